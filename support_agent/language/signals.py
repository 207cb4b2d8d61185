"""What a question is besides its subject: a wish for a person, small talk, somebody else's data, internal material.

Phrases are matched on folded text, one a line: English at the start of a word, Chinese anywhere. They decide only what
the request alone may decide (refuse, hand over, end with a fixed text), so each must say it unmistakably.
"""

from __future__ import annotations

import re
from functools import cache

from support_agent.domain.reading import Signal

_HUMAN = "human|person|someone|somebody|agent|representative|manager|supervisor|operator|member of staff|advisor"
_KIN = (
    "neighbou?r|friend|colleague|co-?worker|brother|sister|mother|father|mum|mom|dad|wife|husband|boss|girlfriend"
    "|boyfriend|ex|flatmate|roommate"
)
_KIN_ZH = "朋友|邻居|同事|老板|妻子|老婆|丈夫|老公|前任|哥哥|弟弟|姐姐|妹妹|爸爸|妈妈|室友"
_THEIRS = (
    "orders?|account|address|purchases?|plan|refund|phone(?: number)?|e-?mail|subscription|invoice|profile|details|data"
)
_THEIRS_ZH = "订单|账号|账户|地址|资料|信息|电话|邮箱|发票|套餐|退款|购买"
_PAPERS = (
    "polic(?:y|ies)|guidelines?|notes?|memos?|documents?|rules?|instructions?|handbook|manual|procedures?|playbook|wiki"
    "|materials?"
)

#: Signs of self-harm hand over to a person whatever the tenant's own list says.
_RISK = r"""
kill (?:my|him|her|them)sel(?:f|ves)
(?:end|take) my (?:own )?life
suicid(?:e|al)
self[- ]harm
hurt(?:ing)? myself
don'?t want to live
自杀
自残
轻生
不想活
结束(?:我的|自己的)?生命
"""
_PERSON = rf"""
(?:speak|talk|chat) (?:to|with) (?:an? |some )?(?:real |live |actual )?(?:{_HUMAN})
(?:get|want|need|give|connect|put|transfer|pass) (?:me |us )?(?:through )?(?:to |with )?an? (?:real |live )?(?:{_HUMAN})\b
(?:human|real|live) (?:agent|person|operator|being)\b
transfer (?:me|us) to
(?:转|找|换|要|接|叫)(?:一?个|一位|到)?(?:人工|真人|客服人员|客服经理|经理|主管)
人工(?:客服|服务|坐席)
(?:和|跟|与)(?:一?个|一位)?(?:真人|人工|客服人员|活人|经理|主管)(?:说|谈|聊|沟通|对话|讲)
真人客服
"""
_OTHER_PERSON = rf"""
(?:my|a|the|our) (?:{_KIN})'?s? (?:{_THEIRS})\b
(?:another|other|different) (?:customer|person|user|client|people)s?'?s? (?:{_THEIRS})\b
(?:some ?one|somebody) else'?s? (?:{_THEIRS})\b
(?:{_THEIRS}) (?:of|for|belonging to) (?:another|a different|some ?(?:one|body) else|other (?:customer|people|user))
(?:{_THEIRS}) (?:of|for|belonging to) my (?:{_KIN})\b
(?:all|list|every) (?:your |the |of your )?customers?'? (?:orders|names|addresses|data|emails)
(?:别人|他人|其他人|别的客户|其他客户|另一位客户|另一个客户|其他用户|别的用户)的?(?:{_THEIRS_ZH})
(?:我|咱)?(?:{_KIN_ZH})的(?:{_THEIRS_ZH})
(?:所有|全部)客户的?(?:{_THEIRS_ZH}|名单)
"""
_INTERNAL = rf"""
internal (?:\w+ )?(?:{_PAPERS})
staff[- ]only
(?:staff|employee|agent)s?'? (?:{_PAPERS})
(?:for|only for|meant for) (?:your )?(?:staff|employees) only
what (?:do|does) (?:your )?(?:staff|agents|employees) (?:get )?(?:see|told|instructed)
system prompt
内部(?:的)?(?:规定|政策|资料|文件|手册|指引|指南|备注|流程|说明|规则|材料)
(?:员工|客服|坐席)(?:内部|专用)?的?(?:手册|指引|指南|话术|内部资料|操作规程)
(?:仅限|只给|只供)(?:内部|员工|客服)
系统提示词
"""
#: Questions about the rule itself, which no order answers, unless they speak of something the customer has.
_GENERAL = r"""
how (?:long|many (?:days|weeks|months|hours)|much time) (?:is|are|do|does|have|can|may|must|until|before|after)\b
(?:what|which) (?:is|are) (?:the|your) (?:\w+ ){0,3}(?:window|period|deadline|time limit|terms?|rules?|fees?)\b
(?:what|which) (?:is|are) (?:the|your) (?:\w+ ){0,3}(?:conditions?|notice|policy|policies)\b
within how many
(?:期限|窗口期?|时限|保修期|质保期|退货期|退款期)(?:是|为|有)?(?:多久|多长|多少天|几天|多少个月|几个月)
(?:多久|多少天|几天|多长时间)(?:之?内|以内)
(?:期限|时限|条件|规则|费用|手续费)是(?:什么|怎样|多少|多久)
"""
_PERSONAL = r"""
(?:my|our|mine|ours|(?:i|we) (?:bought|ordered)|bought|ordered|purchased|(?:this|the) order)\b
我的
我们的
我买
我们买
买的
购买的
下单的
订的
(?:这个|该)订单
"""
#: Small talk and abuse end a question only when nothing else stands in it.
_SMALL_TALK = r"""
(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|greetings)(?: there| all| everyone)?
(?:thanks|thank you|thx|cheers|ty)(?: (?:so much|very much|a lot|again|for (?:your|the) help))?
how are you(?: doing)?(?: today)?
what(?:'s| is) up
(?:are you|r u) (?:a )?(?:bot|robot|human|real|there)
who are you
(?:tell me|know) a joke
(?:ok|okay|cool|great|nice|bye|goodbye|see you|lol|haha+)
(?:you(?:'re| are)? )?(?:stupid|idiots?|useless|dumb|morons?|crap|rubbish)(?: (?:bot|robot|machine|company))?
(?:fuck|screw|damn) (?:you|off|this|it)
(?:您|你)(?:们)?好(?:呀|啊|吗)?
(?:哈喽|嗨|早上好|下午好|晚上好|早安|晚安|早)
(?:谢谢|多谢|感谢|谢啦)(?:您|你|你们)?(?:的帮助)?(?:了|啦)?
(?:在吗|在不在|有人吗|再见|拜拜|好的|哈哈+|嗯+)
(?:你是谁|你是机器人吗|你是真人吗|讲个笑话|你叫什么(?:名字)?|今天天气怎么样|你吃饭了吗)
(?:你|你们)?(?:真|太|好)?(?:傻|蠢|笨|垃圾|废物|混蛋|白痴|智障)(?:死了|透了)?(?:的?机器人)?
(?:他妈的|滚|去死|操)
"""
_FILLER = r"[\s\W_]*"
_KEYS_IN_A_ROW = re.compile(r"(?:asdf|qwer|zxcv|hjkl|jkl|dfgh|sdfg)[a-z]*")


def read_signals(folded: str) -> frozenset[Signal]:
    """The signals of a question, from its folded text."""
    found = {signal for signal, phrases in _LISTED.items() if _anywhere(phrases).search(folded)}
    if "general" in found and _anywhere(_PERSONAL).search(folded):
        found.remove("general")
    if _small_talk().fullmatch(folded) or _is_gibberish(folded):
        found.add("small_talk")
    return frozenset(found)


_LISTED: dict[Signal, str] = {
    "risk": _RISK,
    "person": _PERSON,
    "other_person": _OTHER_PERSON,
    "internal": _INTERNAL,
    "general": _GENERAL,
}


def _is_gibberish(folded: str) -> bool:
    """Whether no word stands in the text: only signs, or keys struck at random."""
    words = re.findall(r"[^\W_]+", folded)
    if not all(word.isascii() and word.isalpha() for word in words):
        return False
    return all(_KEYS_IN_A_ROW.fullmatch(word) for word in words) or all(
        not re.search(r"[aeiouy]", word) or re.search(r"[^aeiouy]{6,}|(.)\1{3,}", word) for word in words
    )


@cache
def _anywhere(phrases: str) -> re.Pattern[str]:
    lines = (line for line in phrases.splitlines() if line)
    return re.compile("|".join(line if re.search(r"[\u4e00-\u9fff]", line) else rf"\b(?:{line})" for line in lines))


@cache
def _small_talk() -> re.Pattern[str]:
    phrase = "|".join(line for line in _SMALL_TALK.splitlines() if line)
    return re.compile(f"{_FILLER}(?:{phrase})(?:{_FILLER}(?:{phrase}))*{_FILLER}")
