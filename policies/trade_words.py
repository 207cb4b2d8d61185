"""What words of shops and online services mean, where a general dictionary lacks them or explains another use."""

from __future__ import annotations

from typing import Final

_WORDS: Final = """
套餐 plan package|年付 annual yearly|月付 monthly|按年 yearly|按月 monthly|年度 annual|年费 annual fee
月费 monthly fee|会费 membership fee|账号 account|账户 account|帐号 account|帐户 account|登录 log in sign in
注册 register sign up|注销 close delete cancel|退订 unsubscribe cancel|续订 renew renewal|续费 renew renewal
订阅 subscription subscribe|升级 upgrade|降级 downgrade|试用 trial|试用期 trial period|扣款 charge payment
扣费 charge fee|收费 charge fee|计费 billing|账期 billing period|账单 bill invoice billing|发票 invoice
付款 pay payment|付费 pay paid payment|退款 refund money back|全额 full|余额 balance|押金 deposit|定金 deposit
运费 delivery shipping fee|邮费 postage shipping|配送 delivery|送货 delivery|包邮 free shipping|快递 courier delivery
发货 ship dispatch|签收 receive delivery|收货 receive delivery|取货 collect pick up|取件 collect pick up|上门 at home
退货 return|换货 exchange|更换 exchange replace|保修 warranty guarantee|质保 warranty guarantee|维修 repair
故障 fault failure outage|中断 outage interruption|停机 downtime outage|设备 equipment device|优惠 offer discount
优惠券 coupon voucher|折扣 discount|积分 points reward|兑换 redeem|会员 member membership
过期 expire expiration expired|到期 expire expiration expiry|有效期 validity valid expire|期限 period deadline limit
时限 time limit window|截止 deadline until|提前 advance before|通知 notice notify notification
提醒 reminder remind notification|条款 terms clause|协议 agreement|规定 rule policy|政策 policy|规则 rule|隐私 privacy
投诉 complaint complain|客服 support customer service|外卖 takeaway restaurant food delivery|杂货 grocery
超市 grocery supermarket|网速 internet speed connection|带宽 bandwidth speed|高清 hd high definition
标清 sd standard definition|超高清 uhd ultra hd|流 stream streaming|播放 play stream watch
数据 data content information|备份 backup|删除 delete deletion remove|内容 content data|邮件 email mail
邮箱 email mailbox|电子邮件 email mail|邮箱地址 email address|域名 domain|证书 certificate|发布 publish release
依赖 depend dependency dependent|包 package bundle|组织 organization|权限 permission|暂停 pause suspend
失败 fail failure|限制 limit|上限 limit maximum|最低 minimum lowest|最多 maximum most|最少 minimum least
金额 amount value|单价 unit price|税费 tax|下单 order|开具 issue|开票 issue invoice|导出 export|导入 import
申请 request apply|修改 change|更改 change|增值税 vat tax|手续费 fee charge|违约金 fee penalty|滞纳金 late fee
年龄 age old years|年纪 age old years|周岁 age years old|未成年 minor age|家长 parent|工作日 business day working day
自然日 calendar day|得州 texas|加州 california|麻省 massachusetts|套件 package plan|退费 refund|外送 delivery takeaway
点数 points reward|识别码 identifier id|标识符 identifier id|凭证 certificate voucher|网域 domain
串流 stream streaming|资料 data content information|伺服器 server|服务器 server|程式 program app|电邮 email mail
信件 email mail|通知信 notification email|软体 software|网路 network internet|额度 quota limit|方案 plan
断讯 outage interruption|答复 reply response respond answer|回复 reply response respond answer
回应 response respond|回信 reply response|注销账户 close account|关闭账户 close account
"""

#: Simplified Chinese word -> what it means.
TRADE_WORDS: Final = {
    word: meanings
    for entry in _WORDS.replace("\n", "|").strip("|").split("|")
    for word, _, meanings in [entry.partition(" ")]
}
