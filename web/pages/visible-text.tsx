/**
 * Characters that change how other text looks, or that cannot be seen at all: controls, bidi marks
 * and embeddings, zero-width and filler characters, line separators, lone surrogates, tags. In a
 * log they are either an accident or a trick, so they are shown as such. Left alone are the two
 * selectors that choose between the black-and-white and the coloured form of an emoji.
 */
const INVISIBLE = /(?![\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/gu

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escapeOne(character: string): string {
  const short = SHORT[character]
  if (short) return short
  return `\\u{${character.codePointAt(0)?.toString(16).toUpperCase()}}`
}

/** For attributes, option texts and labels: nothing in the answer is invisible. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, escapeOne)
}

type Piece = { text: string; escaped: boolean }

/** Cuts a text at its invisible characters. With `multiline`, line breaks and tabs stay. */
export function visiblePieces(text: string, multiline = false): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (const match of text.matchAll(INVISIBLE)) {
    if (multiline && (match[0] === '\n' || match[0] === '\t')) continue
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), escaped: false })
    pieces.push({ text: escapeOne(match[0]), escaped: true })
    from = match.index + match[0].length
  }
  if (from < text.length) pieces.push({ text: text.slice(from), escaped: false })
  return pieces
}

/** Text from a log, in an element of its own so that its direction cannot reach its neighbours. */
export function Visible({ text, multiline = false }: { text: string; multiline?: boolean }) {
  return (
    <bdi>
      {visiblePieces(text, multiline).map((piece) =>
        piece.escaped ? <span class="escaped">{piece.text}</span> : piece.text,
      )}
    </bdi>
  )
}

/** A name of a tool, a server or a parameter. */
export function Name({ text }: { text: string }) {
  if (text === '') return <span class="quiet">(no name)</span>
  return (
    <code class="name" title={visibleText(text)}>
      <Visible text={text} />
    </code>
  )
}

/** A sentence in which names stand in backticks. */
export function Sentence({ text }: { text: string }) {
  return (
    <>
      {text
        .split('`')
        .map((part, index) => (index % 2 === 1 ? <Name text={part} /> : <Visible text={part} />))}
    </>
  )
}

/** Cut at a whole character, with a mark that it was. */
export function shortened(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text
  return `${text.slice(0, maxCharacters).replace(/[\ud800-\udbff]$/, '')}…`
}
