"""Chinese times and durations; `tests/unit/language/chinese.tsv` shows what each form means."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import cache
from typing import Final, TypeAlias

from support_agent.domain.reading import DurationUnit, Precision
from support_agent.language.dates import (
    ONE_DAY,
    Asked,
    Days,
    Found,
    Part,
    Unit,
    half_of,
    moment,
    month_of,
    monthless,
    nearest_week_day,
    one_day,
    part_of_month,
    part_of_year,
    quarter_of,
    relative,
    season_of,
    shift,
    unit_around,
    week_day,
    weekend,
    whole,
    year_of,
    yearless,
)
from support_agent.language.grammar import Bound, Grammar, Length, Rule, nothing
from support_agent.language.lengths import Amount, Hedge, ago, length, window
from support_agent.language.numerals import CHINESE_NUMBER, chinese_number, chinese_span_of_numbers
from support_agent.language.numeric_dates import NUMERIC_DATES

_Match: TypeAlias = re.Match[str]

#: What words in front or behind make of the period they stand at.
BOUNDS: Final[dict[str, Bound]] = {
    **dict.fromkeys(("自从", "自", "以来", "起", "开始"), "since"),
    **dict.fromkeys(("以后", "之后", "后"), "after"),
    **dict.fromkeys(("以前", "之前", "前"), "before"),
    **dict.fromkeys(("截至", "截止", "截止到", "直到", "到", "至", "为止"), "until"),
}
#: Between a day and a length they say which way it is counted: 6月1日前两天.
COUNTED: Final = frozenset({"以前", "之前", "前", "的前", "以后", "之后", "后", "的后"})
#: 3月5日后7天内 is no day but a window.
WITHIN: Final = re.compile(r"\s*(?:以?内|之内|里)")
#: 按去年的政策 asks for what held then.
AS_OF: Final = frozenset({"按", "按照", "依照", "根据", "依据"})

# 收到, 来自, 甚至 end like prepositions.
_OPERATORS = (
    r"(?:自从|(?<![来亲])自|从|截止到|截至|截止|直到|(?<![收拿得送接找看达遇寄])到|(?<![截甚乃])至"
    r"|按照|按|依照|依据|根据|在|于)\s*"
)
_SUFFIXES = (
    r"\s*(?:以前|之前|以后|之后|以来|为止|开始|前(?![台面后几两天往些者半一二三四五六七八九十0-9])"
    r"|后(?![天面续来悔者年台半])|起(?![飞码来止])"
    # A day's: 今年前三个月 are the first three.
    r"|(?:(?<=[日号节诞旦庆一二])|(?<=[-/.][0-9]{2}))的?[前后](?=(?:[两几半]|[0-9一二三四五六七八九十]{1,3})个?[天周月年星礼](?!以?内|之内)))"
)

_CENTURY = 2000
_YEARS_AWAY = {"大前年": -3, "前年": -2, "去年": -1, "上一年": -1, "上年度": -1, "今年": 0, "本年": 0, "本年度": 0,
               "明年": 1, "后年": 2}  # fmt: skip
_DAYS_AWAY = {
    "大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3,
}  # fmt: skip
_UNITS_AWAY = {"上上": -2, "上": -1, "这": 0, "本": 0, "当": 0, "下": 1, "下下": 2}
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_PARTS: dict[str, Part] = {
    "初": "early",
    "上旬": "early",
    "中": "mid",
    "中旬": "mid",
    "底": "late",
    "末": "late",
    "尾": "late",
    "下旬": "late",
}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_QUARTERS = {"一": 1, "二": 2, "三": 3, "四": 4, "首": 1, "末": 4}
_CALENDAR_UNITS: dict[str, Unit] = {
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "季度": "quarter",
    "季": "quarter",
}
_UNITS: dict[str, DurationUnit] = {
    "工作日": "working_day", "分钟": "minute", "小时": "hour", "钟头": "hour", "天": "day", "日": "day", "晚": "day",
    "周": "week", "星期": "week", "礼拜": "week", "月": "month", "季度": "quarter", "年": "year",
}  # fmt: skip
# Lowest and highest number that imprecise words can mean.
_VAGUE = (2, 9)

# Holidays with a fixed day: month, day, days they last.
_HOLIDAYS: dict[str, tuple[int, int, int]] = {
    "双十一": (11, 11, 1), "双11": (11, 11, 1), "双十二": (12, 12, 1), "双12": (12, 12, 1), "光棍节": (11, 11, 1),
    "国庆节": (10, 1, 7), "国庆": (10, 1, 7), "十一黄金周": (10, 1, 7), "元旦": (1, 1, 1),
    "劳动节": (5, 1, 5), "五一节": (5, 1, 5), "五一期间": (5, 1, 5),
    "五一假期": (5, 1, 5), "十一期间": (10, 1, 7), "十一假期": (10, 1, 7),
    "儿童节": (6, 1, 1), "圣诞节": (12, 25, 1), "圣诞": (12, 25, 1), "情人节": (2, 14, 1), "六一八": (6, 18, 1),
}  # fmt: skip

_YEAR_NAME = "大前年|前年|去年|上一年|上年度|今年|本年度|本年|明年|后年"
_YEAR_ALONE = rf"(?:(?P<year>[12][0-9]{{3}}|[零〇一二三四五六七八九]{{4}})\s*年度?|(?P<which_year>{_YEAR_NAME}))"
_YEAR = rf"{_YEAR_ALONE}\s*的?\s*"
_SHORT_YEAR = r"(?:(?P<short_year>[0-9]{2})年)"
_ANY_YEAR = f"(?:{_YEAR}|{_SHORT_YEAR})"
_MONTH = r"(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九正元腊])\s*月(?!饼|亮|经|子)份?"
_DAY_NUMBER = r"(?:[0-3]?[0-9]|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
_DAY = rf"(?P<day>{_DAY_NUMBER})\s*[日号]"
_LAST_DAY = rf"(?P<last_day>{_DAY_NUMBER})\s*[日号]"
_TO = r"\s*(?:-|–|—|~|到|至)\s*"
_WHICH = "(?P<which>上上|上|这|本|下下|下)一?个?"
_PART = "(?P<part>上旬|中旬|下旬|初|中(?![国文心秋])|底|末|尾(?![款数号]))"
_QUARTER = r"第?(?:(?P<quarter>[一二三四1-4首])个?季度?|q(?P<q>[1-4]))"
_HALF = "(?P<half_year>上|下)半年"
_SEASON = "(?P<season>[春夏秋冬])[天季]"
_HOLIDAY = f"(?P<holiday>{'|'.join(_HOLIDAYS)})(?:那天|当天|期间)?"
_WEEK = "(?:周|星期|礼拜)"
# 这周一直, 上周三次: the character belongs to the next word.
_WEEKDAY = "(?P<weekday>[一二三四五六日天](?![直次些样起共定个种般天件家单位倍常均]))"
_NOT_IN_A_NUMBER = r"(?<![0-9零〇一二两三四五六七八九十百第每])"

_UNIT = (
    r"(?P<unit>(?:个多?半?|(?<=两))月(?![饼亮])|天(?!猫|气|然)|日(?=以?内|之内|无理由)|周(?![年边围末报])|个?多?半?(?:星期|礼拜)(?![一二三四五六日天])"
    r"|个?季度|年(?![级度代轻龄份底末初中费卡纪])|个?多?半?小时|个?多?半?钟头|分钟|个?工作日)"
)
_LENGTH = (
    rf"(?<![第几0-9零〇一二两三四五六七八九十百])(?:(?P<half>半)(?=个?[月天年小周钟季])|(?P<vague>好?几|数|若干)(?=[个天年周日小分])"
    rf"|(?![12][0-9]{{3}}\s*年|[零〇一二三四五六七八九]{{4}}年)(?P<low>{CHINESE_NUMBER})(?:{_TO}(?P<high>{CHINESE_NUMBER}))?(?P<odd>[多几来余])?)\s*{_UNIT}(?P<half_after>半)?(?P<odd_after>多)?"
)
_HEDGE = "(?:(?P<hedge>大概|大约|大致|差不多|将近|快|约|不到|至少|超过)\\s*)?"
_HEDGES: dict[str, Hedge] = {"不到": "less", "至少": "more", "超过": "more"}
# 出发三天前: counted from an event, not from today.
_EVENTS = "出发 起飞 到期 入住 出行 发货 开始 送达 续费 离店 登机 结束 活动 航班 之日".split(" ")
_NOT_FROM_AN_EVENT = "".join(f"(?<!{event})" for event in _EVENTS)


def _year(match: _Match, asked: Asked) -> int | None:
    """The year that stands with the expression; None without one."""
    named = match.groupdict()
    if year := named.get("year"):
        return chinese_number(year)
    if year := named.get("short_year"):
        return _CENTURY + int(year)
    which = named.get("which_year")
    return asked.today.year + _YEARS_AWAY[which] if which else None


def _in_year(match: _Match, asked: Asked, days_in: Callable[[int], Days], precision: Precision = "range") -> Found:
    """The days in the year that is named, or in the nearest that fits."""
    year = _year(match, asked)
    return yearless(asked, days_in, precision) if year is None else whole(asked, days_in(year), precision)


def _month_number(match: _Match) -> int:
    name = match["month"]
    return {"正": 1, "元": 1, "腊": 12}.get(name) or chinese_number(name)


def _date(match: _Match, asked: Asked) -> Found:
    month, day = _month_number(match), chinese_number(match["day"])
    return _in_year(match, asked, lambda year: one_day(date(year, month, day)), "day")


def _days(match: _Match, asked: Asked) -> Found:
    month, first, last = _month_number(match), chinese_number(match["day"]), chinese_number(match["last_day"])
    return _in_year(match, asked, lambda year: (date(year, month, first), date(year, month, last) + ONE_DAY))


def _month(match: _Match, asked: Asked) -> Found:
    month, part = _month_number(match), match["part"]
    if part:
        return _in_year(match, asked, lambda year: part_of_month(year, month, _PARTS[part]))
    return _in_year(match, asked, lambda year: month_of(year, month), "month")


def _which_month(match: _Match, asked: Asked) -> Found:
    """上个月, 上个月底, 上个月5号."""
    first, end = unit_around(shift(asked.today, _UNITS_AWAY[match["which"]], "month"), "month")
    if match["day"]:
        return whole(asked, one_day(first.replace(day=chinese_number(match["day"]))), "day")
    if match["part"]:
        return whole(asked, part_of_month(first.year, first.month, _PARTS[match["part"]]), "range")
    return whole(asked, (first, end), "month")


def _part_of_this_month(match: _Match, asked: Asked) -> Found:
    """月初, 月底: of this month, or of the last when this one's is still to come."""
    part = _PARTS[match["part"]]
    days = part_of_month(asked.today.year, asked.today.month, part)
    if days[0] > asked.reference and not asked.future:
        first = shift(asked.today.replace(day=1), -1, "month")
        days = part_of_month(first.year, first.month, part)
    return whole(asked, days, "range")


def _quarter(match: _Match, asked: Asked) -> Found:
    quarter = int(match["q"]) if match["q"] else _QUARTERS.get(match["quarter"]) or int(match["quarter"])
    return _in_year(match, asked, lambda year: quarter_of(year, quarter), "quarter")


def _half(match: _Match, asked: Asked) -> Found:
    return _in_year(match, asked, lambda year: half_of(year, 1 if match["half_year"] == "上" else 2))


def _part_of_year(match: _Match, asked: Asked) -> Found:
    return _in_year(match, asked, lambda year: part_of_year(year, _PARTS[match["part"]]))


def _end_before_the_beginning(_match: _Match, asked: Asked) -> Found:
    """年底 in 年底年初: of the year before the one that began."""
    return whole(asked, part_of_year(asked.today.year - 1, "late"), "range")


def _season(match: _Match, asked: Asked) -> Found:
    return _in_year(match, asked, lambda year: season_of(year, _SEASONS[match["season"]]), "season")


def _holiday(match: _Match, asked: Asked) -> Found:
    month, day, n_days = _HOLIDAYS[match["holiday"]]
    precision: Precision = "day" if n_days == 1 else "range"
    return _in_year(
        match, asked, lambda year: (date(year, month, day), date(year, month, day) + n_days * ONE_DAY), precision
    )


def _calendar_year(match: _Match, asked: Asked) -> Found | None:
    year = _year(match, asked)
    return None if year is None else whole(asked, year_of(year), "year")


def _years(match: _Match, asked: Asked) -> Found:
    return whole(asked, (year_of(int(match["year"]))[0], year_of(int(match["last_year"]))[1]), "range")


def _same_day_in_year(match: _Match, asked: Asked) -> Found | None:
    year = _year(match, asked)
    if year is None:
        return None
    day = shift(asked.today, year - asked.today.year, "year")
    return whole(asked, one_day(day), "day") if match["day"] else whole(asked, unit_around(day, "month"), "month")


def _near_day(match: _Match, asked: Asked) -> Found:
    return relative(asked, _DAYS_AWAY[match["name"]], "day")


def _now(_match: _Match, asked: Asked) -> Found | None:
    """现在; not 从现在起 or 到目前为止."""
    return None if asked.operator in BOUNDS or asked.operator == "从" else moment(asked.at)


def _week(match: _Match, asked: Asked) -> Found:
    weeks, weekday = _UNITS_AWAY[match["which"]], match["weekday"]
    if match["weekend"]:
        return weekend(asked, weeks)
    return week_day(asked, weeks, _WEEKDAYS[weekday]) if weekday else relative(asked, weeks, "week")


def _week_day(match: _Match, asked: Asked) -> Found:
    return nearest_week_day(asked, _WEEKDAYS[match["weekday"]])


def _weekend(_match: _Match, asked: Asked) -> Found:
    begun = asked.today.weekday() >= _WEEKDAYS["六"]
    return weekend(asked, 0 if begun or asked.future else -1)


def _which_unit(match: _Match, asked: Asked) -> Found:
    return relative(asked, _UNITS_AWAY[match["which"]], _CALENDAR_UNITS[match["unit"]])


def _day_of_month(match: _Match, asked: Asked) -> Found:
    return monthless(asked, chinese_number(match["day"]))


def _amount(match: _Match) -> Amount:
    unit_text = match["unit"]
    unit = next(unit for name, unit in _UNITS.items() if unit_text.endswith(name))
    half = bool(match["half"] or match["half_after"] or "半" in unit_text)
    if match["half"]:
        return Amount(low=0, high=0, unit=unit, half=True)
    if match["vague"]:
        return Amount(low=_VAGUE[0], high=_VAGUE[1], unit=unit)
    low, high = chinese_span_of_numbers(match["low"])
    return Amount(
        low=low, high=max(high, chinese_number(match["high"])) if match["high"] else high, unit=unit, half=half
    )


def _ago(match: _Match, asked: Asked) -> Found | None:
    odd = match["odd"] or match["odd_after"] or "多" in match["unit"]
    hedge = _HEDGES.get(match["hedge"], "about") if match["hedge"] else "odd" if odd else "exact"
    return ago(asked, _amount(match), hedge)


def _day_long_ago(match: _Match, asked: Asked) -> Found | None:
    """四年前的今天."""
    amount = _amount(match)
    if amount.unit not in ("day", "week", "month", "quarter", "year") or amount.half:
        return None
    return whole(asked, one_day(shift(asked.today, -amount.low, amount.unit)), "day")


def _window(match: _Match, asked: Asked) -> Found | None:
    return window(asked, _amount(match), ahead=match["way"] in ("未来", "今后", "接下来"))


def _duration(match: _Match, _asked: Asked) -> Length:
    return length(_amount(match))


_RULES: tuple[Rule, ...] = (
    # What only looks like a time.
    Rule(rf"(?:每个?)?{_WEEK}[一二三四五六日天]{_TO}{_WEEK}?[一二三四五六日天]", nothing),
    Rule(rf"每个?{_WEEK}[一二三四五六日天末]?|每[个一]?[天日月年]|天天", nothing),
    Rule(rf"{CHINESE_NUMBER}(?:年|个月|周)[零又]?{_LENGTH}\s*(?:以前|之前|前)", nothing),
    Rule(rf"{_NOT_IN_A_NUMBER}{_MONTH}初[一二三四五六七八九十]", nothing),
    # Counted from today, before the months: 三个月前, 3 天前.
    Rule(rf"{_LENGTH}\s*(?:以前|之前|前)的?(?:今天|今日|这一?天)", _day_long_ago),
    Rule(rf"{_HEDGE}{_NOT_FROM_AN_EVENT}{_LENGTH}\s*(?:以前|之前|前(?![台面往]))", _ago),
    Rule(rf"(?P<way>(?<!已经)过去|最近|近|未来|今后|接下来)的?这?{_LENGTH}(?:以?内|之内|里|间)?", _window),
    # 提前几天 asks how long before.
    Rule(
        rf"(?<!提){_NOT_FROM_AN_EVENT}前[几些](?:天|日)", lambda _, asked: ago(asked, Amount(low=1, high=9, unit="day"))
    ),
    Rule(rf"{_NOT_FROM_AN_EVENT}前两天", lambda _, asked: ago(asked, Amount(low=1, high=3, unit="day"))),
    Rule(r"这[几两些]天", lambda _, asked: window(asked, Amount(low=7, high=7, unit="day"))),
    # Days near today.
    Rule(
        r"(?<![之以])(?P<name>大前|大后|前|昨|今|明|后)[天日](?![气猫然性])(?:早上|上午|中午|下午|晚上|晚)?", _near_day
    ),
    Rule(r"(?P<name>昨|今|明)(?:晚上?|早上?|夜)(?!点)", _near_day),
    Rule(r"现在|目前|当前|此刻|眼下|如今|现阶段", _now),
    # Years with what follows them.
    Rule(rf"(?P<year>[12][0-9]{{3}})年?{_TO}(?P<last_year>[12][0-9]{{3}})年", _years),
    Rule(rf"{_ANY_YEAR}?\s*{_NOT_IN_A_NUMBER}{_MONTH}\s*(?P<day>{_DAY_NUMBER})\s*[日号]?{_TO}{_LAST_DAY}", _days),
    Rule(rf"{_ANY_YEAR}?\s*{_NOT_IN_A_NUMBER}{_MONTH}\s*{_DAY}", _date),
    Rule(rf"{_ANY_YEAR}?\s*{_NOT_IN_A_NUMBER}{_MONTH}(?:(?:的?月)?{_PART})?(?![0-9])", _month),
    Rule(rf"{_ANY_YEAR}?\s*[0-9]{{1,2}}\s*月\s*[0-9]{{1,2}}\s*[日号]|[12][0-9]{{3}}\s*年\s*[0-9]{{1,2}}\s*月", nothing),
    Rule(rf"{_ANY_YEAR}\s*{_QUARTER}", _quarter),
    Rule(rf"{_ANY_YEAR}\s*{_HALF}", _half),
    Rule(rf"{_YEAR}年?{_PART}", _part_of_year),
    Rule(rf"{_YEAR}{_SEASON}", _season),
    Rule(rf"{_YEAR}{_HOLIDAY}", _holiday),
    Rule(rf"{_YEAR}(?:(?P<day>今天|这一?天|今日)|这个?时候|此时|同期|这个?月)", _same_day_in_year),
    Rule(_YEAR_ALONE, _calendar_year),
    # Months, weeks and quarters near this one.
    Rule(rf"{_WHICH}月(?![饼亮球])(?:的?{_DAY}|(?:的?月)?{_PART})?", _which_month),
    Rule(rf"{_WHICH}{_WEEK}(?:{_WEEKDAY}|(?P<weekend>末))?(?![年边围])", _week),
    Rule(rf"{_WHICH}(?P<unit>季度|季(?!节))", _which_unit),
    Rule(rf"{_NOT_IN_A_NUMBER}{_WEEK}{_WEEKDAY}(?![次])", _week_day),
    Rule(rf"{_NOT_IN_A_NUMBER}周末", _weekend),
    # Without a year: the last that has begun.
    Rule(rf"{_HALF}", _half),
    Rule(rf"{_NOT_IN_A_NUMBER}第?(?:(?P<quarter>[一二三四1-4])季度|(?<![0-9a-z])q(?P<q>[1-4])(?![0-9a-z]))", _quarter),
    Rule(r"年[底末尾](?=[、到和或]?年初)", _end_before_the_beginning),
    Rule(r"(?<![0-9一二两三四五六七八九十])年(?P<part>初|中|底|末|尾(?![款数号]))", _part_of_year),
    Rule(r"(?<![个0-9一二两三四五六七八九十])月(?P<part>初|中|底|末|尾(?![款数号]))", _part_of_this_month),
    Rule(_HOLIDAY, _holiday),
    Rule(
        rf"(?<![第0-9a-z一二三四五六七八九十])(?P<day>{_DAY_NUMBER})号(?=$|[^\w]|[那我的就才买下订付到收发之以前后起退签晚早上])(?!楼|店)",
        _day_of_month,
    ),
    # Durations, last: what is counted and none of the above.
    Rule(_LENGTH, _duration),
)

# Every character that a rule or a word in front of one can begin with: a scan looks no closer at the others.
_STARTS = (
    "0-9零〇一二两三四五六七八九十百半几好数若第每个周星礼天日大前昨今明后去上这本下年月正元腊q"
    "现目当此眼如过最近未今接差将快约不至少超自从到截直按依根在于春夏秋冬首"
    + "".join(sorted({name[0] for name in _HOLIDAYS}))
)


@cache
def chinese() -> Grammar:
    """The Chinese grammar, compiled by the first question that needs it."""
    return Grammar(
        (*NUMERIC_DATES, *_RULES), before=f"(?=[{_STARTS}])", after="", operators=_OPERATORS, suffixes=_SUFFIXES
    )
