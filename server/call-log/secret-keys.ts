/**
 * Which keys hold secrets. Spelling is levelled first: case, `-`, `_`, `.` and camelCase, so that
 * `X-Api-Key`, `apiKey`, `API_KEY` and `openaiApiKey` are the same. Wrong both ways costs: a secret
 * in the log, or a `maxTokens` that nobody can read. test/server/redact.test.ts has both lists.
 */

/** Secret where the whole key, without separators, is one of these. */
const WHOLE = words(`
  password passwd pwd pass passphrase passcode secret secrets token apikey auth authorization
  proxyauthorization cookie cookies setcookie session sessionid sid sessionkey jwt bearer privatekey
  credential credentials clientsecret accesskey accesskeyid secretkey refreshtoken idtoken
  accesstoken authtoken otp totp mfacode pin pincode cvv cvc cvv2 ssn socialsecuritynumber
  connectionstring connstring dsn webhook webhookurl databaseurl mongouri redisurl authheader
  masterkey accountkey sharedkey hmackey sshkey cardnumber sig xamzsignature xamzcredential
  creditcard creditcardnumber xgoogsignature csrf xsrf`)

/** Secret where the key, without separators, ends in one of these. */
const ENDINGS = new RegExp(
  `(${[
    'password(confirm|confirmation|again|repeat|hash|value|text|[0-9])?',
    'passwd|passphrase|connectionstring|credentials?|authorization|jwt|sessionid|authkey',
    'secret(value|string|text|data|binary)?',
    '(api|access|private|secret|signing|encryption)key(value|pem|data|id)?',
    '(access|auth|api|id|refresh|bearer|oauth|session|csrf|xsrf|security|bot|github|gitlab|slack|npm)token',
  ].join('|')})$`,
)

/** Secret where the key's last word is one of these; too short to be looked for inside words. */
const LAST_WORDS = words('token pwd otp pin cvv cvc ssn dsn cookie bearer auth')

/** `STRIPE_KEY`, `NPM_TOKEN`: names of environment variables. */
const ENVIRONMENT =
  /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*_(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD|PASS|AUTH|DSN|CREDENTIALS)$/

/** Words before `token` or `KEY` that make it a position, a counter or a public thing. */
const HARMLESS_BEFORE = words(`
  next page continuation cursor sync progress cancel cancellation resume start end first last stop
  eos bos pad unk mask sep cls max min num per total count prev previous input output prompt
  public primary foreign partition sort row hash range cache composite unique natural candidate
  index object map dict group translation i18n message pagination`)

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}

const MAX_REMEMBERED = 2_000
const MAX_KEY_LENGTH = 100
const remembered = new Map<string, boolean>()

export function isSecretKey(key: string): boolean {
  const known = remembered.get(key)
  if (known !== undefined) return known
  const secret = judge(key.length > MAX_KEY_LENGTH ? key.slice(-MAX_KEY_LENGTH) : key)
  if (remembered.size >= MAX_REMEMBERED) remembered.clear()
  remembered.set(key, secret)
  return secret
}

function judge(key: string): boolean {
  const parts = key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== '')
  const joined = parts.join('')
  if (WHOLE.has(joined) || ENDINGS.test(joined)) return true
  const last = parts.at(-1) ?? ''
  const before = parts.at(-2) ?? ''
  if (HARMLESS_BEFORE.has(before)) return false
  return (parts.length > 1 && LAST_WORDS.has(last)) || ENVIRONMENT.test(key)
}

/** Words that are common in prose: `token: expired` says nothing secret, `password: expired` might. */
const COMMON_WORDS = words('token auth session sid pin pass otp bearer secret secrets sig csrf')

/** Secret, and no everyday word: its value is masked even where only a colon stands between. */
export function isUnmistakableKey(key: string): boolean {
  return isSecretKey(key) && !COMMON_WORDS.has(key.toLowerCase())
}
