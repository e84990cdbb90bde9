/**
 * Tokens that are known by how they begin. Each pattern is a fixed beginning and a run of token
 * characters, so that a text is searched in linear time. Lengths are well below the real ones:
 * a shortened or invented token in a test is masked too.
 */
const TOKENS = [
  // OpenAI, Anthropic, OpenRouter and many that imitate them; `sk-` alone is judged by its rest.
  'sk-[\\w-]{6,}',
  '[srp]k_(?:live|test|prod)_\\w{8,}',
  'whsec_[\\w+/=]{16,}',
  // GitHub, GitLab, package registries
  'gh[oprsu]_\\w{10,}',
  'github_pat_\\w{16,}',
  'gl(?:pat|dt|rt|cbt|ptt|ft|imt|oas|soat|agent)-[\\w.-]{12,}',
  'npm_[A-Za-z0-9]{16,}',
  'pypi-[\\w-]{24,}',
  'rubygems_[0-9a-f]{24,}',
  'dckr_(?:pat|oat)_[\\w-]{16,}',
  'CLOJARS_[a-z0-9]{30,}',
  // Clouds
  '(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{12,}',
  'AIza[\\w-]{24,}',
  'ya29\\.[\\w-]{16,}',
  'GOCSPX-[\\w-]{16,}',
  'LTAI[A-Za-z0-9]{12,}',
  'AKID[A-Za-z0-9]{16,}',
  'do[opr]_v1_[0-9a-f]{24,}',
  'dapi[0-9a-f]{24,}',
  'hv[sbr]\\.[\\w-]{16,}',
  'v1\\.0-[0-9a-f]{16,}-[0-9a-f]{32,}',
  'sha256~[\\w-]{32,}',
  'fo1_[\\w-]{24,}',
  'fm[12][ar]?_[\\w+/=-]{24,}',
  'dp\\.(?:pt|st|ct|sa|scim|audit)\\.[A-Za-z0-9]{16,}',
  'pscale_(?:tkn|pw|oauth)_[\\w.=-]{16,}',
  'sbp_[0-9a-f]{24,}',
  'sb_secret_[\\w-]{12,}',
  'pul-[0-9a-f]{24,}',
  'ops_eyJ[\\w-]{24,}',
  'AGE-SECRET-KEY-1[A-Z0-9]{24,}',
  'AKCp[A-Za-z0-9]{24,}',
  // Messaging and mail
  'xox[abeoprs](?:\\.xox[bp])?-[\\w-]{8,}',
  'xapp-[\\w-]{12,}',
  'SG\\.[\\w-]{12,}\\.[\\w-]{12,}',
  'SK[0-9a-f]{32}',
  'key-[0-9a-f]{32}',
  'xkeysib-[0-9a-f]{24,}[\\w-]*',
  '[0-9a-f]{32}-us[0-9]{1,2}',
  // Models
  'hf_[A-Za-z0-9]{12,}',
  'api_org_[A-Za-z0-9]{20,}',
  'gsk_[A-Za-z0-9]{16,}',
  'xai-[\\w-]{20,}',
  'r8_[A-Za-z0-9]{20,}',
  'pplx-[A-Za-z0-9]{20,}',
  'nvapi-[\\w-]{20,}',
  'tgp_v1_[\\w-]{20,}',
  // Shops, payments, work tools
  'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{16,}',
  'sq0(?:atp|csp|idp)-[\\w-]{16,}',
  'EAAA[\\w-]{40,}',
  'FLWSECK(?:_TEST)?-[\\w-]{12,}',
  'EZ[AT]K[A-Za-z0-9]{40,}',
  'shippo_(?:live|test)_[0-9a-f]{24,}',
  'duffel_(?:live|test)_[\\w-]{16,}',
  'lin_(?:api|oauth)_[A-Za-z0-9]{16,}',
  'ntn_[A-Za-z0-9]{24,}',
  'secret_[A-Za-z0-9]{32,}',
  'pat[A-Za-z0-9]{14}\\.[0-9a-f]{32,}',
  'figd_[\\w-]{20,}',
  'fio-u-[\\w-]{24,}',
  'AT[AC]TT3[\\w=-]{20,}',
  'CFPAT-[\\w-]{20,}',
  'PMAK-[0-9a-f]{16,}-[0-9a-f]{16,}',
  'tfp_[\\w.=-]{24,}',
  'rdme_[a-z0-9]{32,}',
  'ico-[A-Za-z0-9]{24,}',
  'pnu_[a-z0-9]{24,}',
  'tk-us-[\\w-]{24,}',
  'p8e-[a-z0-9]{24,}',
  'sm_(?:aat|pat|sat)_[A-Za-z0-9]{12,}',
  // Watching
  'NR(?:AK|JS|II|RA)-[\\w-]{16,}',
  'gl(?:sa|c)_[\\w+/=-]{20,}',
  'eyJrIjoi[A-Za-z0-9+/=]{24,}',
  'sntry[su]_[\\w+/=-]{20,}',
  'sgp_[\\w-]{24,}',
]

/** Nothing alphanumeric may stand before it: `task-…` is no `sk-…`. */
export const KNOWN_TOKEN = new RegExp(`(?<![A-Za-z0-9])(?:${TOKENS.join('|')})`, 'g')

/** Three parts of base64url, of which two are JSON objects. */
export const JSON_WEB_TOKEN = /(?<![\w-])ey[A-Za-z0-9][\w-]{6,}\.(?:ey)?[\w-]{6,}(?:\.[\w-]*){0,3}/g

export const WEBHOOK_ADDRESS =
  /https:\/\/(?:hooks\.slack\.com\/(?:services|workflows|triggers)|(?:discord|discordapp)\.com\/api\/webhooks|[\w-]{1,60}\.webhook\.office\.com\/webhookb2)\/[^\s"'<>]{8,}/g

export const PRIVATE_KEY_BLOCK =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g
