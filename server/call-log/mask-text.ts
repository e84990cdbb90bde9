import { maskPairs } from './mask-pairs.ts'
import {
  JSON_WEB_TOKEN,
  KNOWN_TOKEN,
  PRIVATE_KEY_BLOCK,
  WEBHOOK_ADDRESS,
} from './secret-prefixes.ts'

/** Gives what stands in place of a secret. */
export type Mask = (secret: string) => string

/** Below this no pattern fits. */
const MIN_LENGTH = 5

/**
 * The text with every secret that can be told from its looks masked. Time is linear in the text's
 * length; callers bound it all the same. Masking a masked text changes nothing.
 */
export function maskText(text: string, mask: Mask): string {
  if (text.length < MIN_LENGTH) return text
  let masked = text
  if (masked.includes('-----BEGIN')) masked = masked.replace(PRIVATE_KEY_BLOCK, mask)
  masked = maskTokens(masked, mask)
  if (masked.includes('://')) {
    masked = maskUserInfo(masked.replace(WEBHOOK_ADDRESS, mask), mask)
  }
  masked = maskSchemes(masked, mask)
  masked = maskPairs(masked, mask)
  return maskCards(masked, mask)
}

/** No known token is shorter, so that most words of a prose text are passed over. */
const MIN_TOKEN_LENGTH = 9

const TOKEN_CHARACTERS = new Uint8Array(128)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~+/=-') {
  TOKEN_CHARACTERS[character.charCodeAt(0)] = 1
}

function isTokenCharacter(text: string, at: number): boolean {
  return TOKEN_CHARACTERS[text.charCodeAt(at)] === 1
}

/**
 * Searches the runs of token characters for tokens. The runs are found by leaps: where the ninth
 * character ahead is none, nothing before it needs to be looked at.
 */
function maskTokens(text: string, mask: Mask): string {
  let out = ''
  let copied = 0
  let start = 0
  while (start + MIN_TOKEN_LENGTH <= text.length) {
    let at = start + MIN_TOKEN_LENGTH - 1
    while (at >= start && isTokenCharacter(text, at)) at--
    if (at >= start) {
      start = at + 1
      continue
    }
    let end = start + MIN_TOKEN_LENGTH
    while (end < text.length && isTokenCharacter(text, end)) end++
    const run = text.slice(start, end)
    const masked = maskRun(run, mask)
    if (masked !== run) {
      out += text.slice(copied, start) + masked
      copied = end
    }
    start = end + 1
  }
  return copied === 0 ? text : out + text.slice(copied)
}

function maskRun(run: string, mask: Mask): string {
  return run
    .replace(KNOWN_TOKEN, (token) => (isWord(token) ? token : mask(token)))
    .replace(JSON_WEB_TOKEN, mask)
}

/** `sk-learn`, `sk-editor`: hyphenated words rather than tokens. */
function isWord(token: string): boolean {
  return token.startsWith('sk-') && !/[0-9A-Z]/.test(token)
}

const AUTH_SCHEME = /\b(Bearer|Basic|Token|ApiKey|Negotiate)([ \t]{1,3})([\w.~+/=:-]{3,})/gi

/** `Bearer abc123` is masked, `Bearer token` and `Basic authentication` are prose. */
function maskSchemes(text: string, mask: Mask): string {
  return text.replace(AUTH_SCHEME, (whole, scheme: string, space: string, rest: string) => {
    const value = rest.replace(/[.:]+$/, '')
    const telling =
      scheme.toLowerCase() === 'token'
        ? /\d/.test(value) && value.length >= 8
        : /[0-9~+/=_]|.[A-Z]/.test(value) || value.length >= 20
    return telling ? `${scheme}${space}${mask(value)}${rest.slice(value.length)}` : whole
  })
}

const MAX_AUTHORITY_LENGTH = 1_024
const AUTHORITY_END = /[\s"'<>`]/

/** The password of `scheme://user:password@host`, and a user name that looks like a token. */
function maskUserInfo(text: string, mask: Mask): string {
  let out = ''
  let copied = 0
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    const start = at + 3
    if (start < copied) continue
    const found = userInfoAt(text, start)
    if (!found) continue
    out += text.slice(copied, found.from) + mask(text.slice(found.from, found.to))
    copied = found.to
  }
  return copied === 0 ? text : out + text.slice(copied)
}

function userInfoAt(text: string, start: number): { from: number; to: number } | undefined {
  const window = text.slice(start, start + MAX_AUTHORITY_LENGTH)
  const end = AUTHORITY_END.exec(window)?.index ?? window.length
  const whole = window.slice(0, end)
  const authority = whole.slice(0, /[/?#]/.exec(whole)?.index ?? whole.length)
  const colon = whole.indexOf(':')
  let at = authority.lastIndexOf('@')
  // An unencoded `/` or `#` in a password ends the authority early. What stands after the colon
  // is a port only if it is a number.
  if (at === -1 && colon !== -1 && colon < authority.length) {
    if (!/^:\d*$/.test(authority.slice(colon))) at = whole.lastIndexOf('@')
  }
  if (at === -1) return undefined
  if (colon !== -1 && colon < at) return secretSpan(whole, start, colon + 1, at)
  const user = whole.slice(0, at)
  return user.length >= 16 && /\d/.test(user) ? secretSpan(whole, start, 0, at) : undefined
}

function secretSpan(whole: string, start: number, from: number, to: number) {
  if (from === to || whole.startsWith('[redacted', from)) return undefined
  return { from: start + from, to: start + to }
}

const DIGITS = /(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\d)/g

/** Numbers of payment cards: a known issuer, its length, and the check digit. */
function maskCards(text: string, mask: Mask): string {
  return text.replace(DIGITS, (run) => (isCardNumber(run.replace(/[ -]/g, '')) ? mask(run) : run))
}

const ISSUERS =
  /^(4(\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|6(011|5\d\d|4[4-9]\d)\d{12}|3(0[0-5]|[68]\d)\d{11}|35(2[89]|[3-8]\d)\d{12}|62\d{14,17})$/

export function isCardNumber(digits: string): boolean {
  if (!ISSUERS.test(digits)) return false
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index])
    const doubled = index % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
