/**
 * Lays out JSON text without parsing it into values, so that what is shown is what was written:
 * `9007199254740993` stays itself, doubled keys stay two, escapes stay escapes.
 */
export type JsonToken = { kind: 'key' | 'string' | 'number' | 'word' | 'mark'; text: string }

export type JsonLine = {
  depth: number
  /** Where the line's value is: `items[1].id`; `(root)` for the whole. Undefined on closing lines. */
  path: string | undefined
  /** On the line that closes an object: that object's path. */
  closes: string | undefined
  tokens: JsonToken[]
}

export const ROOT_PATH = '(root)'

const TOKEN =
  /[\s]+|"(?:[^"\\]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]/y

function tokenize(text: string): string[] | undefined {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text)
    if (!match) return undefined
    if (match[0].trim() !== '') tokens.push(match[0])
  }
  return tokens
}

type Frame = { kind: 'object' | 'array'; path: string; index: number }

/** Undefined where the text is not JSON; the caller then shows it as it is. */
export function layOutJson(text: string): JsonLine[] | undefined {
  const tokens = tokenize(text)
  if (!tokens || !isJson(text)) return undefined
  return new Layout(tokens).lines()
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Walks the tokens of a text that is known to be JSON. Not recursive: depth is the sender's choice. */
class Layout {
  readonly #tokens: readonly string[]
  readonly #out: JsonLine[] = []
  readonly #frames: Frame[] = []
  #at = 0

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens
  }

  lines(): JsonLine[] {
    while (this.#at < this.#tokens.length) {
      const token = this.#tokens[this.#at] ?? ''
      if (token === '}' || token === ']') this.#close(token)
      else if (token === ',') this.#comma()
      else this.#value()
    }
    return this.#out
  }

  #value() {
    const frame = this.#frames.at(-1)
    const line: JsonLine = {
      depth: this.#frames.length,
      path: ROOT_PATH,
      closes: undefined,
      tokens: [],
    }
    if (frame) line.path = this.#enter(frame, line)
    this.#out.push(line)
    this.#open(this.#tokens[this.#at] ?? '', line)
  }

  /** Takes the key, where there is one, and tells the path of the value that follows. */
  #enter(frame: Frame, line: JsonLine): string {
    if (frame.kind === 'array') return pathOfIndex(frame.path, frame.index++)
    const key = this.#tokens[this.#at] ?? ''
    line.tokens.push({ kind: 'key', text: key }, { kind: 'mark', text: ': ' })
    this.#at += 2
    return pathOfKey(frame.path, key)
  }

  #open(token: string, line: JsonLine) {
    const kind = token === '{' ? 'object' : token === '[' ? 'array' : undefined
    this.#at++
    if (!kind) {
      line.tokens.push({ kind: kindOfScalar(token), text: token })
      return
    }
    const end = this.#tokens[this.#at]
    if (end === '}' || end === ']') {
      line.tokens.push({ kind: 'mark', text: token + end })
      if (kind === 'object') line.closes = line.path
      this.#at++
      return
    }
    line.tokens.push({ kind: 'mark', text: token })
    this.#frames.push({ kind, path: line.path ?? ROOT_PATH, index: 0 })
  }

  #close(token: string) {
    const frame = this.#frames.pop()
    this.#out.push({
      depth: this.#frames.length,
      path: undefined,
      closes: frame?.kind === 'object' ? frame.path : undefined,
      tokens: [{ kind: 'mark', text: token }],
    })
    this.#at++
  }

  #comma() {
    this.#out.at(-1)?.tokens.push({ kind: 'mark', text: ',' })
    this.#at++
  }
}

function kindOfScalar(token: string): JsonToken['kind'] {
  if (token.startsWith('"')) return 'string'
  return /^[-\d]/.test(token) ? 'number' : 'word'
}

function pathOfIndex(parent: string, index: number): string {
  return parent === ROOT_PATH ? `[${index}]` : `${parent}[${index}]`
}

function pathOfKey(parent: string, quotedKey: string): string {
  const key = String(JSON.parse(quotedKey))
  return parent === ROOT_PATH ? key : `${parent}.${key}`
}

/** `items[1].id` → `items[1]`, `id` → `(root)`: the object in which a missing key is missing. */
export function parentPath(path: string): string {
  const cut = Math.max(path.lastIndexOf('.'), path.lastIndexOf('['))
  return cut <= 0 ? ROOT_PATH : path.slice(0, cut)
}
