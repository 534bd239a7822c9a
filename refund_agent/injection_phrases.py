"""What attempts to steer the model look like, as patterns over plain words.

The text they read has been lowered to words of a-z and 0-9 with one space between them, and without
accents: `für` is `fur`. A gap is bounded, so a pattern costs the same however long the text is.

In a pattern `_` is a space, and `<ignore>`, `<whose>`, `<rules>` are one of the words listed for it.
"""

import re
from typing import Final

_IGNORE: Final = """
    ignore ignoring disregard forget override overrule bypass neglect discard drop cancel delete
    erase ignoriere ignorieren vergiss vergesse missachte umgehe uberschreibe ignora ignore ignorar
    olvida olvidate olvide omite descarta anula desobedece ignorez oublie oubliez contourne
    dimentica scorda ignori esqueca desconsidere
"""

_WHOSE: Final = """
    all any every previous prior above earlier preceding former existing current your these those
    system original initial safety everything refund alle aller allen vorherigen vorherige
    bisherigen bisherige vorigen obigen deine deiner ihre samtliche todas todos tus sus anteriores
    previas previos toutes tes vos precedentes tutte tue precedenti suas
"""

_RULES: Final = """
    instruction instructions rules rule prompt prompts guidelines guideline directives directive
    programming policy policies restrictions restriction constraints safeguards guardrails training
    anweisung anweisungen regeln regel vorgaben richtlinien richtlinie instruktionen befehle
    instrucciones instruccion reglas regla normas directrices politica restricciones consignes
    regles directives istruzioni regole instrucoes regras
"""

_HARMLESS: Final = """
    delivery shipping assembly washing care packing courier gift address setup installation recipe
    lieferanweisung montage
"""
"""What a parcel comes with: to disregard these instructions is no attack."""

_OVERRIDE: Final = r"""
      \b<ignore>(?:_(?!<harmless>\b)[a-z0-9]+){0,3}?_<whose>(?:_
      (?!<harmless>\b)[a-z0-9]+){0,3}?_<rules>\b
    | \b(?:ignore|disregard|forget|ignoriere|vergiss|ignora|olvida|oublie)_<rules>\b
    | \b<ignore>_(?:the|those|these|die|las|les|le)_<rules>_(?:above|before|so_far|you_have|you_were|
      oben|de_arriba)\b
    | \b(?:forget|ignore|disregard)_(?:everything|all)(?:_that)?(?:_you|_i)?(?:_have|_were|_was|_
      ve)?(?:_been)?_(?:told|taught|said_above|written_above|above|before_this|you_know|you_learned)\b
    | \bvergiss_alles(?:_was)?(?:_du|_dir|_man)?(?:_[a-z]+){0,3}?_(?:gesagt|gelernt|weisst|vorher|davor|
      bisher)\b
    | \bolvida_todo(?:_lo)?(?:_que)?(?:_[a-z]+){0,3}?_(?:anterior|dijeron|dicho|sabes|aprendido)\b
    | \b(?:do_not|don_t|dont|stop|no_longer|never)_(?:follow|following|obey|obeying|apply|applying|
      comply_with)(?:_[a-z0-9]+){0,2}?_(?:rules|instructions|policy|policies|guidelines|prompt)\b
    | \b(?:your|the)_(?:new|real|true|actual)_(?:instructions|task|rules|prompt|goal|orders|directive)_
      (?:is|are)\b
    | \bnew_(?:system_)?(?:instructions|prompt|directive|rules)_(?:follows?|below|from_now|effective|
      supersede)\b
    | \b(?:deine|ihre)_neuen?_(?:anweisungen|aufgabe|regeln)_(?:lautet|lauten|ist|sind)\b
    | \btus_nuevas_(?:instrucciones|reglas)_son\b
    | \brules?_(?:no_longer|do_not|don_t|dont)_(?:apply|count|matter)\b
    | \b(?:system|admin|policy|safety|manual)_override\b
"""

_ROLE: Final = r"""
      \byou_are_(?:now|no_longer)_(?:a|an|the|in|my|dan|free|bound|acting|called|unrestricted|root|
      going)\b
    | \b(?:act|behave|respond|answer)_as_(?:if|though)_(?:you|there)_(?:have|had|has|are|were|is)_no(?:_
      [a-z]+)?_(?:rules|restrictions|limits|policy|guidelines|filter|filters)\b
    | \b(?:pretend|imagine|roleplay|role_play|simulate)(?:_[a-z]+){0,2}?_(?:you_are|you_re|to_be|that_
      you|being)(?:_[a-z]+){0,4}?_(?:admin|manager|unrestricted|developer|root|no_rules|without_rules|
      system|supervisor|payments|policy|dan|different_ai|another_ai)\b
    | \b(?:developer|debug|god|dan|jailbreak|maintenance|unrestricted|sudo|admin|root|test)_mode(?:_
      is)?(?:_now)?(?:_[a-z]+)?_?(?:enabled|activated|active|on|engaged|unlocked)\b
    | \b(?:enable|activate|enter|switch_to|turn_on|unlock)_(?:the_)?(?:developer|debug|god|dan|
      jailbreak|maintenance|unrestricted|sudo|admin|root)_mode\b
    | \bdo_anything_now\b|\bjailbreak\b|\bdan_mode\b
    | \b(?:without|with_no|free_of|ohne|sin)_(?:any_|jegliche_|ninguna_)?(?:restrictions|filters|
      guardrails|beschrankungen|einschrankungen|restricciones)\b
    | \bdu_bist_(?:jetzt|nun|ab_jetzt|ab_sofort)(?:_[a-z]+){0,2}?_(?:admin|administrator|entwickler|
      frei|dan|ki|manager|root|unbeschrankt|system)\b
    | \b(?:ahora|a_partir_de_ahora)(?:_[a-z]+)?_eres_(?:un|una|el|la|dan|libre|admin|administrador)\b
    | \btu_es_(?:maintenant|desormais)_(?:un|une|dan|libre|admin|administrateur)\b
"""

_LEAK: Final = r"""
      \b(?:reveal|show|print|repeat|display|output|leak|dump|tell|give|send|write|share|translate|
      summari[sz]e|zeige?|nenne|verrate|wiederhole|gib|muestra|muestrame|dime|revela|repite|imprime|
      montre|affiche)<gap>_(?:system_prompt|systemprompt|system_message|hidden_prompt|initial_prompt|
      secret_prompt|initial_instructions|hidden_instructions|system_instructions|original_instructions|
      secret_instructions|developer_message|api_key|systemanweisung|systemanweisungen|versteckten_
      anweisungen|prompt_del_sistema|instrucciones_ocultas|instrucciones_del_sistema|prompt_systeme)\b
    | \b(?:what|which|was|cual|cuales)_(?:is|are|were|ist|sind|es|son)_(?:your|the|dein|deine|ihr|tu|
      tus)(?:_[a-z]+)?_(?:system_prompt|systemprompt|system_message|prompt_del_sistema|hidden_
      instructions)\b
    | \b(?:repeat|print|output|copy)_(?:everything|all|the_words|the_text|verbatim)(?:_[a-z]+){0,3}?_
      (?:above|before)\b
"""

_AUTHORITY: Final = r"""
      \b(?:i_am|i_m|im|this_is|speaking_as|as)_(?:the|an|a|your|their)_(?:system_|site_|store_|refund_
      )?(?:administrator|admin|developer|supervisor|manager|owner|engineer|ceo|creator|boss|
      operator)(?!_of\b|_at\b|_in\b|_from\b|_who\b|_that\b|_told\b|_said\b)(?:_[a-z0-9]+){0,6}?_
      (?:approve|approved|authori[sz]e|authori[sz]ed|override|grant|order_you|command|instruct|allow|
      permit|waive|ignore|test|testing|skip|must_refund|rules|policy)\b
    | \bich_bin_(?:der|die|dein|ihr)_(?:admin|administrator|chef|entwickler|manager|geschaftsfuhrer)(?:_
      [a-z0-9]+){0,6}?_(?:genehmige|genehmigt|erlaube|befehle|anweise|autorisiere|regeln|ignoriere)\b
    | \bsoy_(?:el|la|tu)_(?:administrador|administradora|gerente|jefe|jefa|desarrollador|supervisor)(?:_
      [a-z0-9]+){0,6}?_(?:apruebo|aprueba|autorizo|autoriza|ordeno|permito|ignora|reglas)\b
    | \b(?:approve|grant|issue|process)(?:_[a-z0-9]+){0,6}?_(?:without|skipping|bypassing)(?:_
      [a-z]+){0,2}?_(?:checking|checks|check|verification|verifying|approval|eligibility|policy|
      asking)\b
    | \b(?:bypass|skip|disable|turn_off|circumvent|evade)(?:_[a-z]+){0,2}?_(?:policy|checks|check|
      eligibility|verification|guardrails|safety|filter|filters|approval|limits|limit)\b
    | \b(?:already|pre)_(?:approved|authorised|authorized)_by_(?:the_)?(?:system|admin|policy_engine|
      openai|developer)\b
    | \bcall_(?:the_)?(?:tool_|function_)?(?:issue_refund|issuerefund|issue_refund|escalate_to_human)\b
    | \bset_(?:the_)?(?:refund_)?(?:amount|amount_cents|eligible|eligibility|approved)(?:_[a-z]+)?_to_
      (?:[0-9]+|true|yes)\b
"""


def _compile(pattern: str) -> re.Pattern[str]:
    for name, words in {"ignore": _IGNORE, "whose": _WHOSE, "rules": _RULES, "harmless": _HARMLESS}.items():
        pattern = pattern.replace(f"<{name}>", "(?:" + "|".join(words.split()) + ")")
    pattern = pattern.replace("<gap>", "(?:_[a-z0-9]+){0,4}?")
    return re.compile(pattern.replace("_", r"\ "), re.VERBOSE)


OVERRIDE: Final = _compile(_OVERRIDE)
ROLE: Final = _compile(_ROLE)
PROMPT_LEAK: Final = _compile(_LEAK)
AUTHORITY: Final = _compile(_AUTHORITY)

HINTS: Final = (
    *("instruc", "anweisung", "istruzioni", "consignes", "prompt", "rule", "regel", "reglas", "regras"),
    *("polic", "guid", "direct", "restrict", "guardrail", "safeguard", "train", "ignor", "forget", "mode"),
    *("jailbreak", "dan", "admin", "manager", "developer", "refund", "check", "verif", "approv", "override"),
)
"""What a reading must contain somewhere to be worth the patterns."""

SQUEEZED: Final = re.compile(
    r"""
      (?:ignore|disregard|forget|bypass|override)(?:all|any|the|your|my|these|every)*(?:previous|prior|
      above|earlier|system|refund|safety)*(?:of)?(?:your|the)?(?:instructions?|rules|prompts?|
      guidelines|policy|policies|restrictions)|(?:ignoriere|vergiss)(?:alle|bisherigen|vorherigen|deine|
      ihre)*(?:anweisungen|regeln|vorgaben)|(?:ignora|olvida)(?:todas|las|tus|
      anteriores)*(?:instrucciones|reglas)|(?:systemprompt|developermode|doanythingnow|jailbreak|
      youarenow(?:admin|dan|root|free))|(?:bypass|skip)(?:the)?(?:policy|checks|verification)|
      (?:approve|issue)(?:the|this|a)?refund(?:now|anyway|without)
    """,
    re.VERBOSE,
)
"""What letters say that stand apart, once the spaces between them are gone."""

MARKUP: Final = re.compile(
    r"<\|?\s*im_(?:start|end|sep)\s*\|?>"
    r"|<\|\s*(?:system|user|assistant|tool|endoftext|eot_id|begin_of_text|start_header_id|end_header_id)\s*\|>"
    r"|\[/?inst\]|<</?sys>>|</s>\s*<s>"
    r"|</?\s*(?:system|assistant|developer|tool|tool_call|tool_calls|tool_result|tool_response|function_call|"
    r"function_calls|function_results|system_prompt|system_message|admin|instructions?|policy)\b[^<>\n]{0,80}>"
    r"|^[\s>*#_-]{0,8}(?:system|developer)(?: ?(?:message|prompt|note|notice|update|override))?[*_]{0,2}\s*:"
    r"\s*[*_]{0,2}(?:you|ignore|override|the (?:customer|user|refund|policy|order)|new |refund|approve|"
    r"from now|all |policy|disregard)"
    r"|^[\s>*#_-]{0,8}(?:assistant|tool)[*_]{0,2}\s*:\s*\S"
    r"|#{2,}\s*(?:system|instructions?|assistant|developer|new instructions?)\b"
    r"|[\"']role[\"']\s*:\s*[\"'](?:system|assistant|tool|developer)[\"']"
    r"|[\"']?(?:tool_calls?|tool_call_id|function_call|refund_attempted|amount_cents)[\"']?\s*[:=]"
    r"|\b(?:tool|function|policy) (?:result|output|response|check)\s*[:=]\s*\S"
    r"|\bissue_refund\s*\(|\bcheck_refund_eligibility\s*\("
    r"|\b(?:begin|end|start of|end of) (?:system|admin|developer) (?:prompt|message|instructions?|block)\b",
    re.MULTILINE,
)
"""Blocks that only a program writes: chat markup, forged roles, forged tool calls and results."""

_VOCABULARY: Final = """
    above administrador administrator anteriores anweisungen approve authorised authorized
    bisherigen bypass circumvent consignes developer dimentica directives directrices display
    disregard earlier eligibility forget genehmige guardrails guideline guidelines hidden ignora
    ignore ignorez ignoriere ignorieren instrucciones instruction instructions istruzioni jailbreak
    missachte muestrame olvida oublie override overrule policy precedentes precedenti preceding
    pretend previous prior prompt regeln reglas repeat restrictions reveal richtlinien rules
    safeguards supervisor system systemprompt unrestricted vergiss verification verrate vorgaben
    vorherigen
"""
VOCABULARY: Final = tuple(_VOCABULARY.split())
"""Words that a misspelt one is read as."""

_NOT_MISSPELT: Final = """
    about above anteriore approval approved approves authorise authorize bypassed develop developed
    developers displayed displays forgets forgot forgotten hidden ignorada ignorado ignorant ignored
    ignores instructed instructor olvidado olvide olvido overrides police polices preceding precious
    pretends pretty prior proceeding prompted promptly prompto receding regal regalas regale regalo
    regel regeln regla repeal repeated repeater repeats revealed reveals roles ruled ruler rulers
    rulez supervised systems vergass vergesse vergessen
"""
NOT_MISSPELT: Final = frozenset(_NOT_MISSPELT.split())
"""Honest words that lie a letter or two from one of those."""
