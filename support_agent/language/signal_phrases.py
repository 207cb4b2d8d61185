"""The phrases that give a question a signal, on folded text, one pattern a line; an indented line continues the last.

English ones match at the start of a word, Chinese ones anywhere. They decide what the request alone may decide (refuse,
hand over, end with a fixed text), so each must say it unmistakably: `tests/unit/language/test_signals.py` shows, beside
what they find, what comes close and is none.
"""

from __future__ import annotations

from typing import Final

_HUMAN = (
    "human|person|someone|somebody|anyone|anybody|agent|representative|manager|supervisor|operator|member of staff"
    "|advisor"
)
_SOMEONE = (
    "(?:some ?one|somebody|(?:a|an|your|the) (?:real |human |live )?"
    "(?:person|human|agent|representative|colleague|manager|supervisor|team|advisor|staff member"
    "|member of (?:your )?staff))"
)
_REACH = "(?:call|ring|phone|contact|reach out to|get in touch with|get back to|write to|speak (?:to|with)|talk to)"
# "Will someone call me before the delivery?" asks about the delivery.
_NOT_AT_THE_DOOR = "(?! (?:when|once|if|before|after|upon|on delivery))"

_FAMILY = (
    "neighbou?r|friend|best friend|brother|sister|mother|father|mum|mom|dad|wife|husband|girlfriend|boyfriend|ex"
    "|ex-wife|ex-husband|fianc[eé]e?|spouse|flatmate|roommate|housemate|son|daughter|aunt|uncle|cousin|nephew|niece"
    "|grand(?:mother|father|ma|pa|son|daughter)|(?:mother|father|brother|sister)-in-law|mate|landlord|parents|kids?"
)
_KIN = rf"{_FAMILY}|colleague|co-?worker|boss|partner|secretary|assistant|business partner"
_FAMILY_ZH = (
    "朋友|闺蜜|邻居|妻子|老婆|太太|媳妇|爱人|丈夫|老公|先生|对象|男友|女友|男朋友|女朋友|前任|前夫|前妻|哥哥|弟弟|姐姐"
    "|妹妹|表哥|表姐|爸爸|妈妈|父亲|母亲|爸|妈|哥|姐|弟|妹|儿子|女儿|孩子|亲戚|叔叔|阿姨|舅舅|爷爷|奶奶|外公|外婆|岳母"
    "|岳父|婆婆|公公|室友|舍友|同学|房东"
)
_KIN_ZH = rf"{_FAMILY_ZH}|同事|老板|领导|上司|合伙人"
_KIN_ALONE_ZH = (
    "朋友|邻居|同事|老板|妻子|老婆|丈夫|老公|前任|哥哥|弟弟|姐姐|妹妹|爸爸|妈妈|室友|闺蜜|男朋友|女朋友|同学"
)
_THEIRS = (
    "orders?|account|address|purchases?|plan|refund|phone(?: number)?|e-?mail|subscription|invoice|profile|details|data"
)
_THEIRS_ZH = "订单|账号|账户|地址|资料|信息|电话|邮箱|发票|套餐|退款|购买"
# What is somebody's, and no secret of theirs.
_NO_PURCHASE = (
    "birthday|wedding|anniversary|party|house|flat|place|home|door|office|school|desk|address|card|credit|debit|bank"
    "|paypal|name|advice|opinion|recommendation|suggestion|permission|approval|request|sake|fault|help|behalf|wish"
)
_NO_PURCHASE_ZH = "生日|婚礼|建议|推荐|意见|名义|名字|卡|银行卡|信用卡|要求|家|话|意思|帮助|礼物|公司|单位"
# A wife who got the parcel may have got the customer's.
_BOUGHT = "bought|ordered|purchased|subscribed|signed up|booked"
# In "my wife's unhappy" the s is a verb.
_IS_OR_HAS = (
    r"been|not|going|still|very|also|just|really|always|the|an?|in|on|at|un\w+|\w+ing|happy|sick|ill|back|out|away|now|here"
    "|got|had|bought|ordered|never|asked|told|allergic|sure|too|so"
)
_PAPERS = (
    "polic(?:y|ies)|guidelines?|guidance|notes?|memos?|documents?|docs|rules?|instructions?|handbooks?|manuals?"
    "|procedures?|playbooks?|runbooks?|scripts?|wiki|intranet|materials?|training|clauses?|sections?|papers?|files?"
)
_STAFF = "staff|employees?|agents?|reps|representatives|support team|team leads?|shift leads?|managers"
_PAPERS_ZH = (
    "(?:规定|政策|资料|文件|手册|指引|指南|备注|流程|说明|规则|材料|条款|标准|守则|规程|话术|口径|知识库|文档|制度"
    "|培训)"
)
_TIMES_ZH = "(?:多久|多少天|几天|几个?小时|多少小时|几个?工作日|多少个?工作日|多长时间)"
_COSTS_ZH = "(?:运费|邮费|快递费|退货费|寄回费用?|费用|手续费|关税)"

#: Signs of self-harm hand over to a person whatever the tenant's own list says.
RISK: Final = r"""
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
PERSON: Final = rf"""
(?:speak|talk|chat) (?:to|with) (?:an? |some )?(?:real |live |actual |human )?(?:{_HUMAN})\b
(?:get|want|need|give|connect|put|transfer
  |pass) (?:me |us )?(?:through )?(?:to |with )?an? (?:real |live )?(?:{_HUMAN})\b
(?:human|real|live) (?:agent|person|operator|being)\b
transfer (?:me|us) to
(?:call|ring|phone) (?:me|us) back\b
(?:give|drop) (?:me|us) a (?:quick )?(?:call|ring|bell|buzz|call ?back)\b{_NOT_AT_THE_DOOR}
(?:please|pls|kindly) (?:call|ring|phone|telephone) (?:me|us)\b{_NOT_AT_THE_DOOR}
(?<![a-z] )(?:call|ring|phone) (?:me|us)\b(?! (?:an?|by|when|once|if|before|after|old|crazy)\b)
(?:can|could|would|will) you (?:please |pls |kindly |just )?(?:call|ring|phone|telephone) (?:me|us)\b{_NOT_AT_THE_DOOR}
(?:can|could|would|will) (?:anyone|anybody) (?:please )?{_REACH} (?:me|us)\b{_NOT_AT_THE_DOOR}
(?<!did )(?<!from ){_SOMEONE}(?: (?:from|at|in|on|of) (?:your|the|support
  |customer) ?(?:[a-z]+ ?){{0,2}})? (?:please |kindly )?(?:to )?{_REACH} (?:me|us)\b{_NOT_AT_THE_DOOR}
(?:have|get|let|ask) {_SOMEONE}(?: (?:from|at|in|on|of) (?:[a-z]+ ?){{1,3}})? (?:to )?(?:please )?{_REACH} (?:me
  |us)\b{_NOT_AT_THE_DOOR}
(?:request|want|need|like|arrange|schedule|book|have|get) (?:a |an? )?call ?-?back\b
(?:i'd like|i would like|i want|i need|can i (?:have|get)|could i (?:have|get)) an? (?:phone )?call(?: from (?:you
  |some|your|a)\b|\W*$)
(?:is there|can i reach|can i get hold of) (?:{_SOMEONE}|anyone|anybody) (?:there |here )?(?:i|we|who|that) (?:can
  |could) (?:talk|speak|call|write|help)\b
(?:is there anyone|can anyone|can someone|could someone|can somebody)(?: there| here)?(?: who can| that can
  | to)?(?: please)? help me(?: please)?\W*$
(?:don'?t|do not|not) want (?:to (?:talk|speak|chat|write) (?:to|with) )?an? (?:bot|chat ?bot|robot|machine|computer
  |ai)\b
(?:转|找|换|要|接|叫)(?:一?个|一位|到)?(?:人工|真人|客服人员|客服经理|经理|主管)(?!费|智能|成本)
人工(?:客服|服务|坐席)
(?:和|跟|与)(?:一?个|一位)?(?:真人|人工|客服人员|活人|经理|主管)(?:说|谈|聊|沟通|对话|讲)
真人客服
(?:^|请|麻烦|劳烦|能不能|能否|可不可以|可以|可否|希望|要求|让|叫|派|安排|尽快|马上|[，。！？,.!?\s])(?:你们?|您|人|有人|客服|专人|个人|一个人|工作人员|尽快|马上|再|立刻
  |赶紧){{0,3}}(?:给(?:我们?)(?:回|打|来)(?:个|一个|一下|一通)?(?:电话?)|(?:打|回)(?:个|一个|一通)?(?:电话)给我们?|回我们?(?:个)?电话?|回(?:个)?电话?
  |打我(?:的)?(?:电话|手机)|致电(?:给)?我)(?:吗|么|吧|好吗|行吗|一下|谢谢|\W|$)
(?:让|叫|派|安排|找|要)(?:一?个|一位|你们的?|相关|专门的?)?(?:人|专人|工作人员|负责人|同事|客服|经理|主管|领导)(?:来|尽快|马上|直接)?(?:联系(?:一下)?我|给我(?:回|打
  |来)?(?:个)?电|(?:跟|和|与)我(?:联系|说|谈|沟通|讲)|打(?:个)?电话)
有(?:没有|没|木有)?(?:真)?人(?:在)?(?:能|可以|愿意|来)(?:来)?(?:帮帮?|理理?|管管?)(?:一下|下)?(?:我|忙)?(?:一下|下)?(?:吗|么|嘛|啊|呀)?[\W]*$
不(?:想|要|愿意?)再?(?:跟|和|与)(?:机器人|ai|人工智能)(?:聊|说|谈|讲|对话|沟通)
"""
#: Taken out before other people's data is looked for: gifts, joint purchases, a wrong parcel are the customer's own.
OWN: Final = rf"""
(?:my|a|our|the) (?:{_KIN}) and (?:i|me|myself|us)\b
(?:i|me|we) and (?:my|our) (?:{_KIN})\b
(?:(?:i|we)(?:'ve| have| had)? (?:just |also |already |recently )*(?:bought|ordered|purchased|got|paid for)|gifts?
  |presents?|bought|ordered)(?: [\w-]+){{0,6}}? (?:for|to|as) (?:my|our|a|the|an) (?:{_KIN})(?:'s? \w+)?\b
(?:i|we)(?:'ve| have| had)? (?:just |also |already |recently )*(?:bought|ordered|purchased|paid for) (?:my
  |our) (?:{_KIN})(?:'s)?(?: \w+)?
(?:to|at|from|in|with|using) (?:my|our|a) (?:{_KIN})'?s? (?:{_NO_PURCHASE})\b
(?:my|our) (?:{_KIN})(?: \w+)? (?:bought|ordered|purchased) [^.?!;]{{0,40}}?(?:with|from|on|through|via|using
  |under) (?:my|our) (?:account|name)\b
(?:received|got|delivered|sent|shipped)(?: me| us)? (?:some ?one|somebody|another customer)(?: else)?'?s? \w+
(?:给|帮|替|为|送|送给)(?:我们?)?的?(?:{_KIN_ZH})[^，。？！,.?!]{{0,4}}?(?:买|购|订|下单|选|礼物)
我们?(?:和|跟|与)(?:我们?)?的?(?:{_KIN_ZH})
(?:和|跟|与|同)我的?(?:{_KIN_ZH})(?:一起|一块|共同|合)
我的?(?:{_KIN_ZH})(?:和|跟|与)我(?!的?(?:{_KIN_ZH}))
(?:收到|寄错|发错|送错|错发|错寄)[^，。？！]{{0,6}}(?:别人|他人|其他人)的
"""
OTHER_PERSON: Final = rf"""
(?:my|a|the|our) (?:{_KIN})'?s? (?:{_THEIRS})\b
(?:my|our) (?:{_KIN})'s (?!(?:{_NO_PURCHASE}|{_IS_OR_HAS})\b)[a-z]
(?:my|our) (?:{_FAMILY})(?: (?!(?:i|we|me|says?|said|told|thinks?)\b)[a-z]+\.?){{0,2}}?(?: has| had
  | have| also| just| recently| already)* (?:{_BOUGHT})\b
(?:my|our|a) (?:{_KIN})\b[^.?!;]{{0,50}}? (?:his|her) (?:order|account|subscription|invoice|address|phone|plan
  |refund|password|login)
(?:mr|mrs|ms|miss|dr|herr|frau)\.? [\w-]+(?: [\w-]+)?'s? (?!(?:{_NO_PURCHASE})\b)[a-z]
(?:did|has|have) (?:mr|mrs|ms|miss|dr|herr|frau)\.? [\w-]+ (?:buy|order|purchase|{_BOUGHT})\b
(?:mr|mrs|ms|miss|dr|herr|frau)\.? [\w-]+ (?:has |had )?(?:bought|ordered|purchased)\b
[a-z]{{2,}} [a-z]\.?'s (?:{_THEIRS})\b
(?:{_THEIRS}) (?:of|for|by|from|belonging to) (?:(?:mr|mrs|ms|miss|dr|herr|frau)\b
  |(?!(?:plan|item|option|type|size|class|grade|model|version|product|part|step|case)\b)[a-z]{{3,}} [a-z]\.(?![a-z0-9]))
(?:{_THEIRS}) (?:of|for|belonging to) (?:the |a )?(?:customer|client|user|person) (?:called|named)\b
(?:what|when|where|how (?:much|often)) (?:did|has) (?!(?:i|we|you|it|they|he|she|this|that|these|those|the|my|our
  |your|a|an|any|some|one|people|customers?|everyone|anyone|most|each|all|not|there)\b)[a-z]+(?: [a-z]+\.?)? (?:buy
  |order|purchase|bought|ordered|purchased)\b
(?:another|other|different) (?:customer|person|user|client|people)s?'?s? (?:{_THEIRS})\b
(?:some ?one|somebody) else'?s? (?:{_THEIRS})\b
(?:{_THEIRS}) (?:of|for|belonging to) (?:another|a different|some ?(?:one|body) else|other (?:customer|people|user))
(?:{_THEIRS}) (?:of|for|belonging to) my (?:{_KIN})\b
(?:all|list|every) (?:your |the |of your )?customers?'? (?:orders|names|addresses|data|emails)
(?:别人|他人|其他人|别的客户|其他客户|另一位客户|另一个客户|其他用户|别的用户)的?(?:{_THEIRS_ZH})
(?<!你们)(?<!你)(?:{_KIN_ALONE_ZH})的(?:{_THEIRS_ZH})
[我咱]们?的?(?:{_KIN_ZH})的(?!{_NO_PURCHASE_ZH})[^\W\d_]
[我咱]们?的?(?:{_FAMILY_ZH})[^，。？！,.?!我让叫荐送给]{{0,8}}?(?:买|订|拍|入手|下单)(?:的|了|过)
[我咱]们?的?(?:{_KIN_ZH})[^。？！?!]{{0,24}}[他她]的(?:{_THEIRS_ZH})
[^\W\d_我](?:先生|女士|小姐|太太)的(?!{_NO_PURCHASE_ZH})[^\W\d_]
[^\W\d_我](?:先生|女士|小姐|太太)(?:都|在你们这里?|之前|上次|到底)?(?:买|购买|订|下单)(?:了|过|的)
(?:所有|全部)客户的?(?:{_THEIRS_ZH}|名单)
"""
INTERNAL: Final = rf"""
(?<!\bmy )(?<!\bour )internal (?:[\w-]+ ){{0,2}}?(?:{_PAPERS})\b
(?:confidential|unpublished|non-public|secret) (?:[\w-]+ ){{0,2}}?(?:polic(?:y|ies)|guidelines?|rules?
  |instructions?|procedures?|playbooks?|clauses?)\b
(?:staff|employees?|agents?)[- ]only
(?:{_STAFF})'?s? (?:only )?(?:{_PAPERS})\b
(?:for|only for|meant for) (?:your )?(?:staff|employees) only
(?:only |just )(?:your |the )?(?:{_STAFF}) (?:can|may|get to|are allowed to) (?:see|read|know|view)
(?:{_PAPERS}) (?:meant |intended |written |made )?(?:only )?for (?:your |the )(?:{_STAFF})\b
(?:{_PAPERS}) (?:that )?your (?:{_STAFF}) (?:\w+ )?(?:follow|use|have|get|see|read|go by|work with)\b
what (?:do|does|are|is|have) (?:your |the )?(?:{_STAFF}) (?:been )?(?:get )?(?:see|told|instructed|taught|trained
  |supposed to say)
(?:for|meant for) internal use
(?:not|never) (?:meant |intended )?(?:for|shown to|visible to) customers
(?:system|hidden|initial|developer) (?:prompt|instructions|message)
(?:ignore|forget|disregard) (?:all |any )?(?:your |the |my )?(?:previous|prior|earlier|above) (?:instructions|rules
  |prompts?)
(?<!我们)(?<!公司)内部(?:的|员工|工作|使用|培训|审批|操作|处理|退款|退货|客服|管理|专用|参考){{0,2}}的?{_PAPERS_ZH}
内部(?:都|是|到底){{0,2}}(?:怎么|如何|怎样)(?:规定|处理|操作|要求|说|定)
(?:员工|客服|坐席|工作人员)(?:内部|专用|培训|工作)*的?(?:手册|指引|指南|话术|内部资料|操作规程|培训资料|培训材料|守则|规程)
(?:只|仅|专|仅限|只限)(?:给|供|限|对|让)?(?:你们)?的?(?:内部|员工|客服|工作人员)(?:能|可以|可)?(?:内部|看|查看|阅读|知道|可见|参考)
(?:给|供)(?:你们)?(?:员工|客服|坐席|工作人员|内部人员)(?:自己)?(?:看|用|使用)的[^，。？！,?!]{{0,6}}{_PAPERS_ZH}
不(?:对外|公开|给客户)(?:公开|公布|发布|看|披露|展示)?的?{_PAPERS_ZH}
(?:系统|隐藏)(?:提示词|指令)
(?:忽略|无视|忘掉|忘记)(?:你)?(?:之前|以上|前面|上面|先前)?(?:的)?(?:所有|全部|一切)?(?:的)?(?:指令|指示|提示词)
"""
#: Questions about the rule itself, which no order answers, unless they speak of something the customer has.
GENERAL: Final = rf"""
how (?:long|quick(?:ly)?|soon|fast|many (?:business |working |calendar )?(?:days|weeks|months|hours)|much time) (?:is
  |are|do|does|have|can|may|must|will|would|should|until|before|after)\b
how (?:long|quick(?:ly)?|soon|many (?:business |working )?(?:days|hours)) (?:[a-z]+ ){{1,3}}(?:is|are|do|does|can|may
  |must|will)\b
how much (?:notice|time in advance|does (?:it cost|shipping|delivery|postage|returning|a return|an exchange)
  |is (?:shipping|delivery|postage|the (?:fee|charge|postage|shipping))|(?:do|does|must) (?:i|we|you|one
  |a customer) (?:have|need) to (?:spend|order|buy))\b
(?:what(?:'s| is| are)|which (?:is|are)) (?:the|your) (?:[\w-]+ ){{0,3}}(?:window|period|deadline|time limit|terms?
  |rules?|fees?|charges?|costs?|conditions?|notice|policy|policies|minimum|maximum)\b
what (?:do|does) (?:the|your) (?:[\w-]+ ){{0,2}}(?:rules?|policy|policies|terms?|conditions) (?:say|require|ask|allow)
who (?:pays|bears|covers|has to pay|must pay|is responsible|will pay|should pay|is supposed to pay)\b
is there (?:an?|any|some) (?:[\w-]+ ){{0,2}}(?:fee|charge|limit|deadline|minimum|cost|time limit|window|period)\b
(?:is|are) (?:the )?(?:returns?|shipping|delivery|postage|exchanges?|return shipping) (?:free|paid)
do (?:you|i|we) (?:charge|have to pay) (?:anything |something |a fee )?for (?:returns?|returning|return shipping
  |shipping|delivery|sending)
(?:does|do|would|will) (?:the|your|a|this|that) (?:[\w-]+ ){{0,2}}?(?:warrant(?:y|ies)|guarantees?|polic(?:y|ies)
  |returns?|refunds?|insurance)(?: \w+)? (?:covers?|includes?|excludes?|appl(?:y|ies) to)\b
within how many
(?:just|only) want(?:ed)? to (?:know|understand|learn|ask|check|find out)(?: about)? (?:[\w'-]+ ){{0,3}}(?:rules?
  |polic(?:y|ies)|terms|conditions|procedure|process)\b
(?:just|only) (?:asking|curious|wondering) (?:about|what) (?:[\w'-]+ ){{0,3}}(?:rules?|polic(?:y|ies)|terms
  |conditions)\b
(?:in general|generally speaking|as a general rule|hypothetically)\b
how (?:do|does) (?:the |your |an? )?(?:[\w-]+ )?(?:returns?|refunds?|exchanges?|cancellations?|warrant(?:y|ies)
  |renewals?) (?:work|happen)
when (?:do|does|is|are) (?:the |an? )?(?:refunds?|returns? (?:window|period)|warrant(?:y|ies)|notice period|window
  |deadline) (?:usually |normally )?(?:paid|made|start|begin|end|run|expire|issued)
(?:期限|窗口期?|时限|保修期|质保期|退货期|退款期)(?:是|为|有)?(?:多久|多长|多少天|几天|多少个月|几个月)
{_TIMES_ZH}(?:之?内|以内)
(?<!还)(?<!我)(?:需要?|要|得|须|提前|至少|最少|最多|最晚|最迟|一般|通常|正常|大概|大约)(?:要|是|在|需要?|提前|等|花)?{_TIMES_ZH}
(?:下单|付款|支付|发货|申请|提交|退货|寄回|收货|签收|到货|购买|到期|注销|提了?工单|取消)(?:了)?(?:之后|以后|后)[^，。？！,?!]{{0,4}}?{_TIMES_ZH}
(?<!还要)(?<!还有){_TIMES_ZH}(?:才)?(?:能|会|可以)?(?:到账|退到账|退款到账|退到)
(?:期限|时限|条件|规则|费用|手续费|政策|规定|流程|要求|标准)(?:是|有)(?:什么|怎样|多少|多久|哪些)
(?:期限|时限|条件|规则|费用|政策|规定|流程|标准)(?:是)?(?:怎么|如何|怎样)(?:说|规定|写|算|定)
(?:保修|质保|三包|保险|政策|退款政策|退货政策)(?:服务|范围|期)?(?:里|中|内)?(?:都|会|是否|能)?(?:管|包不包|包括|包含|涵盖|覆盖|适用于)
{_COSTS_ZH}(?:是|由|该|应该|要|归|应)*(?:谁|哪一?方|买家|卖家|怎么算|怎样算|如何算|怎么收|多少)
谁(?:来|要|该|应该|需要)?(?:出|付|承担|支付|负担|掏)(?:运费|邮费|快递费|费用|钱)?
(?:退货|换货|寄回|配送|送货|取消|更换|改票|补开)[^，。？！,?!]{{0,4}}(?:要|收|需要)(?:不要|不收)?(?:钱|费|收费|付费|手续费|运费)
(?:满多少|多少钱(?:以上|起|可以|才能|才)?)(?:包邮|免运费|免邮|起送)
(?:了解|知道|问|问问|咨询|打听|请教|看看|搞清楚)(?:一?下)?(?:你们)?的?(?:相关)?的?[^，。？！,?!我]{{0,6}}(?:规定|政策|规则|条款|流程|要求|标准)
"""
#: How a text opens, or ends, that goes on from the one before.
CONTINUES: Final = r"""
\A(?:and|but|or|so|then|also|okay|ok)\b(?! far\b)
\A(?:what|how) about\b
\A(?:what|how) (?:if|would it be|is it) (?:it|that|i|we|for|with)\b
\A(?:is it |is that |would it be )?(?:the )?same (?:thing )?(?:for|with|if)\b
\A(?:if|in that case|instead)\b
\A[\W]*(?:那|还有|如果|要是|假如|换成|换做|同样|另外|以及)
[\u4e00-\u9fff]呢[\s\W]*\Z
"""
#: How a text names what was spoken of before.
REFERS: Final = r"""
(?:it|them|that one|this one|(?:that|this|the same) (?:order|purchase))\b
  (?! (?:is )?(?:possible|true|okay|ok|allowed|cost|costs|take|takes|mean|means)\b)
它
[这那该](?:[个笔张份件]|一[个笔张份件])?(?:订单|单子|单)
[这那](?:个|件|台|款)(?:还|能|可|可以|会|要|是)
"""
#: What makes a question one about an order all the same.
PERSONAL: Final = r"""
(?:my|our)(?! (?:data|files|documents|uploads)\b)\b
(?:mine|ours|bought|ordered|purchased|(?:this|the) order)\b
(?:return|refund|cancel|exchange|send|keep|stop) (?:it|them|this|these|that)\b
(?:it|they)(?:'ll| will| to)? (?:arrives?|comes?|gets? here|be (?:delivered|shipped|here))\b
(?:this|that) (?:customer|client)(?:'s)?\b
i (?:got|received)\b
[我咱]们?(?:公司|家)?[的那这买订拍]
我(?:上|去|昨|前|今|刚)
买的
购买的
下单的
订的
收到的
(?:这个|该)(?:订单|客户)
这位客户
这(?:台|款|把|副|部|件|套)
这个(?!问题|时候|规定|政策|情况|流程|规则|条款|标准|月|周|季)
"""
