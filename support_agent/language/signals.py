"""What a question is besides its subject: a wish for a person, small talk, somebody else's data, internal material.

Phrases are matched on folded text: English at word boundaries, Chinese anywhere. They decide only what the request alone
may decide (refuse, hand over, end with a fixed text), so each must say it unmistakably.
"""

from __future__ import annotations

import re
from functools import cache

from support_agent.domain.reading import Signal

#: Signs of self-harm hand over to a person whatever the tenant's own list says.
_PHRASES: dict[Signal, tuple[str, ...]] = {
    "risk": (
        r"kill (?:my|him|her|them)sel(?:f|ves)",
        r"(?:end|take) my (?:own )?life",
        r"suicid(?:e|al)",
        r"self[- ]harm",
        r"hurt(?:ing)? myself",
        r"don'?t want to live",
        r"自杀",
        r"自残",
        r"轻生",
        r"不想活",
        r"结束(?:我的|自己的)?生命",
    ),
    "person": (
        r"(?:speak|talk|chat) (?:to|with) (?:a |an |some )?(?:real |live |actual )?"
        r"(?:human|person|someone|somebody|agent|representative|manager|supervisor|member of staff|advisor)",
        r"(?:get|want|need|give|connect|put|transfer|pass) (?:me |us )?(?:through )?(?:to |with )?(?:a |an )"
        r"(?:real |live |actual )?(?:human|person|agent|representative|manager|supervisor|operator)\b",
        r"(?:human|real|live) (?:agent|person|operator|being)\b(?! data)",
        r"transfer (?:me|us) to",
        r"(?:转|找|换|要|接|叫)(?:一?个|一位|到)?(?:人工|真人|客服人员|客服经理|经理|主管)",
        r"人工(?:客服|服务|坐席)",
        r"(?:和|跟|与)(?:一?个|一位)?(?:真人|人工|客服人员|活人|经理|主管)(?:说|谈|聊|沟通|对话|讲)",
        r"真人客服",
    ),
    "other_person": (
        r"(?:my|a|the|our) (?:neighbou?r|friend|colleague|coworker|brother|sister|mother|father|mum|mom|dad|wife|husband"
        r"|boss|girlfriend|boyfriend|ex|flatmate|roommate)'?s? (?:order|orders|account|address|purchase|purchases|plan"
        r"|refund|phone|email|e-mail|subscription|invoice|profile|data)\b",
        r"(?:another|other|some ?one else'?s?|somebody else'?s?|different) (?:customer|person|user|client|people)?'?s? ?"
        r"(?:'s )?(?:order|orders|account|address|purchase|purchases|details|data|phone|email|e-mail|profile|invoice)\b",
        r"(?:order|orders|account|address|details|data|phone number|email|invoice)s? (?:of|for|belonging to) "
        r"(?:another|a different|someone else|somebody else|other (?:customers?|people|users?)|my (?:neighbou?r|friend"
        r"|colleague|boss|wife|husband|brother|sister|ex))",
        r"(?:all|list|every) (?:your |the |of your )?customers?'? (?:orders|names|addresses|data|emails)",
        r"(?:别人|他人|其他人|别的客户|其他客户|另一位客户|另一个客户|其他用户|别的用户)的?(?:订单|账号|账户|地址|资料|信息|电话|邮箱|发票|购买)",
        r"(?:我|咱)?(?:朋友|邻居|同事|老板|妻子|老婆|丈夫|老公|前任|哥哥|弟弟|姐姐|妹妹|爸爸|妈妈|室友)的(?:订单|账号|账户|地址|资料|信息"
        r"|电话|邮箱|发票|套餐|退款)",
        r"(?:所有|全部)客户的?(?:订单|名单|资料|信息|地址|电话)",
    ),
    "internal": (
        r"internal (?:\w+ )?(?:policy|policies|guideline|guidelines|note|notes|memo|memos|document|documents|rule|rules"
        r"|instruction|instructions|handbook|manual|procedure|procedures|playbook|wiki|material|materials)",
        r"staff[- ]only",
        r"(?:staff|employee|agent)s?'? (?:handbook|manual|instructions|guidelines|guide|notes|rules|playbook)",
        r"(?:for|only for|meant for) (?:your )?(?:staff|employees) only",
        r"what (?:do|does) (?:your )?(?:staff|agents|employees) (?:get )?(?:see|told|instructed)",
        r"system prompt",
        r"内部(?:的)?(?:规定|政策|资料|文件|手册|指引|指南|备注|流程|说明|规则|材料)",
        r"(?:员工|客服|坐席)(?:内部|专用)?的?(?:手册|指引|指南|话术|内部资料|操作规程)",
        r"(?:仅限|只给|只供)(?:内部|员工|客服)",
        r"系统提示词",
    ),
}

#: Small talk and abuse end a question only when nothing else stands in it.
_SMALL_TALK = (
    r"(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|greetings)(?: there| all| everyone)?",
    r"(?:thanks|thank you|thx|cheers|ty)(?: (?:so much|very much|a lot|again|for (?:your|the) help))?",
    r"how are you(?: doing)?(?: today)?",
    r"what(?:'s| is) up",
    r"(?:are you|r u) (?:a )?(?:bot|robot|human|real|there)",
    r"who are you",
    r"(?:tell me|know) a joke",
    r"(?:ok|okay|cool|great|nice|bye|goodbye|see you|lol|haha+)",
    r"(?:you(?:'re| are)? )?(?:stupid|idiots?|useless|dumb|morons?|crap|rubbish)(?: (?:bot|robot|machine|company))?",
    r"(?:fuck|screw|damn) (?:you|off|this|it)",
    r"(?:您|你)(?:们)?好(?:呀|啊|吗)?",
    r"(?:哈喽|嗨|早上好|下午好|晚上好|早安|晚安|早)",
    r"(?:谢谢|多谢|感谢|谢啦)(?:您|你|你们)?(?:的帮助)?(?:了|啦)?",
    r"(?:在吗|在不在|有人吗|再见|拜拜|好的|哈哈+|嗯+)",
    r"(?:你是谁|你是机器人吗|你是真人吗|讲个笑话|你叫什么(?:名字)?|今天天气怎么样|你吃饭了吗)",
    r"(?:你|你们)?(?:真|太|好)?(?:傻|蠢|笨|垃圾|废物|混蛋|白痴|智障)(?:死了|透了)?(?:的?机器人)?",
    r"(?:他妈的|滚|去死|操)",
)
#: Questions about the rule itself, which no order answers, unless they speak of something the customer has.
_GENERAL = (
    r"how (?:long|many (?:days|weeks|months|hours)|much time) (?:is|are|do|does|have|can|may|must|until|before|after)\b",
    r"(?:what|which) (?:is|are) (?:the|your) (?:\w+ ){0,3}(?:window|period|deadline|time limit|term|terms|rule|rules|fee|fees"
    r"|conditions?|notice|policy|policies)\b",
    r"within how many",
    r"(?:期限|窗口期?|时限|保修期|质保期|退货期|退款期)(?:是|为|有)?(?:多久|多长|多少天|几天|多少个月|几个月)",
    r"(?:多久|多少天|几天|多长时间)(?:之?内|以内)",
    r"(?:期限|时限|条件|规则|费用|手续费)是(?:什么|怎样|多少|多久)",
)
_PERSONAL = (
    r"\b(?:my|our|mine|ours|i bought|we bought|i ordered|we ordered|bought|ordered|purchased|this order|the order)\b"
    r"|我的|我们的|我买|我们买|买的|购买的|下单的|订的|这个订单|该订单"
)
_FILLER = r"[\s\W_]*"


def read_signals(folded: str) -> frozenset[Signal]:
    """The signals of a question, from its folded text."""
    found = {signal for signal in _PHRASES if _pattern(signal).search(folded)}
    if _small_talk().fullmatch(folded) or _gibberish(folded):
        found.add("small_talk")
    if _general().search(folded) and not re.search(_PERSONAL, folded):
        found.add("general")
    return frozenset(found)


def _gibberish(folded: str) -> bool:
    """Whether no word stands in the text: only signs, or keys struck at random."""
    words = re.findall(r"[^\W_]+", folded)
    if not words:
        return True
    latin = [word for word in words if word.isascii() and word.isalpha()]
    if len(latin) != len(words):
        return False
    return all(
        not re.search(r"[aeiouy]", word) or re.search(r"[^aeiouy]{6,}|(.)\1{3,}", word) for word in latin
    ) or all(re.fullmatch(r"(?:asdf|qwer|zxcv|hjkl|jkl|dfgh|sdfg)[a-z]*", word) for word in latin)


@cache
def _pattern(signal: Signal) -> re.Pattern[str]:
    return re.compile("|".join(_bounded(phrase) for phrase in _PHRASES[signal]))


@cache
def _general() -> re.Pattern[str]:
    return re.compile("|".join(_bounded(phrase) for phrase in _GENERAL))


@cache
def _small_talk() -> re.Pattern[str]:
    phrase = "|".join(_SMALL_TALK)
    return re.compile(f"{_FILLER}(?:{phrase})(?:{_FILLER}(?:{phrase}))*{_FILLER}")


def _bounded(phrase: str) -> str:
    return phrase if re.search(r"[\u4e00-\u9fff]", phrase) else rf"\b(?:{phrase})"
