import { type IssueLike, issueWords } from './issue-words.ts'
import { type JsonLine, layOutJson, parentPath, ROOT_PATH } from './json-text.ts'
import { Sentence, shortened, Visible } from './visible-text.tsx'

/** A page must stay readable, whatever was sent; the whole is one link away. */
const MAX_LINES = 1000
const MAX_SCALAR = 2000
const MAX_RAW = 20_000
/** Deeper levels are not indented further. */
const MAX_DEPTH = 24

/** JSON as it was written, one value a line, with the issues at the places they are about. */
export function JsonView({ text, issues = [] }: { text: string; issues?: readonly IssueLike[] }) {
  const lines = layOutJson(text)
  if (!lines) {
    return (
      <pre class="json">
        <code>
          <Visible text={shortened(text, MAX_RAW)} multiline />
        </code>
      </pre>
    )
  }
  const shown = lines.slice(0, MAX_LINES)
  return (
    <>
      <pre class="json">
        <code>
          {shown.map((line) => (
            <Line line={line} lines={lines} issues={issues} />
          ))}
        </code>
      </pre>
      {shown.length < lines.length && (
        <p class="note">{lines.length - shown.length} more lines are not shown here.</p>
      )}
    </>
  )
}

function Line({
  line,
  lines,
  issues,
}: {
  line: JsonLine
  lines: readonly JsonLine[]
  issues: readonly IssueLike[]
}) {
  const wrong = issues.filter(({ path }) => path === line.path && path !== undefined)
  const absent =
    line.closes === undefined ? [] : issues.filter((issue) => isMissing(issue, line.closes, lines))
  const depth = Math.min(line.depth, MAX_DEPTH)
  return (
    <>
      {line.path === line.closes && absent.length > 0 ? null : (
        <Absent issues={absent} depth={depth} />
      )}
      <span class={`json-line${wrong.length > 0 ? ' wrong' : ''}`}>
        {'  '.repeat(depth)}
        {line.tokens.map(({ kind, text }) => (
          <span class={`json-${kind}`}>
            <Visible text={shortened(text, MAX_SCALAR)} />
          </span>
        ))}
        {wrong.map((issue) => (
          <Remark issue={issue} />
        ))}
        {'\n'}
      </span>
      {line.path === line.closes && <Absent issues={absent} depth={depth} />}
    </>
  )
}

/** Its object closes here, and no line of the text is about it. */
function isMissing(
  issue: IssueLike,
  closes: string | undefined,
  lines: readonly JsonLine[],
): boolean {
  if (issue.path === ROOT_PATH || parentPath(issue.path) !== closes) return false
  return !lines.some(({ path }) => path === issue.path)
}

function Absent({ issues, depth }: { issues: readonly IssueLike[]; depth: number }) {
  return (
    <>
      {issues.map((issue) => (
        <span class="json-line absent">
          {'  '.repeat(depth + 1)}
          <span class="json-key">
            <Visible text={JSON.stringify(issue.path.slice(issue.path.lastIndexOf('.') + 1))} />
          </span>
          <Remark issue={issue} />
          {'\n'}
        </span>
      ))}
    </>
  )
}

function Remark({ issue }: { issue: IssueLike }) {
  return (
    <span class="remark">
      {' ← '}
      <Sentence text={issueWords(issue)} />
    </span>
  )
}
