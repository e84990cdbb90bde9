import type { Child } from 'hono/jsx'
import type { RankedSignature, RankedSignatures } from '../analysis/argument-signatures.ts'
import { stableId } from '../analysis/finding.ts'
import type { Facets } from '../queries/call-store.ts'
import { FilterBar } from './filter-bar.tsx'
import { formatCount, formatRate, plural } from './format.ts'
import { codeWords, type IssueLike, subtypeWords } from './issue-words.ts'
import { JsonView } from './json-view.tsx'
import { callsHref, onlyTool, type View } from './links.tsx'
import { Age, CopyButton, Empty, Facts } from './parts.tsx'
import { Sentence, shortened, Visible } from './visible-text.tsx'

const MAX_SHOWN = 50

export type ArgumentsRows = { signatures: RankedSignatures; facets: Facets }

export function ArgumentsPage({ view, rows }: { view: View; rows: ArgumentsRows }) {
  const { recurring, isolated } = rows.signatures
  return (
    <>
      <h1>Malformed arguments</h1>
      <p class="lead">
        Each entry is one way in which callers get a tool’s arguments wrong, so each has one fix.
        What most sessions run into comes first.
      </p>
      <FilterBar view={view} facets={rows.facets} open={false} />
      {recurring.length + isolated.length === 0 ? (
        <Empty title="No malformed arguments">
          <p>Every call in this range came with arguments that its tool knows.</p>
        </Empty>
      ) : (
        <Signatures view={view} signatures={recurring} />
      )}
      {recurring.length === 0 && isolated.length > 0 && (
        <p class="quiet">None was seen in more than one session.</p>
      )}
      {isolated.length > 0 && (
        <details class="isolated" id="isolated">
          <summary>{formatCount(isolated.length)} in one session only</summary>
          <Signatures view={view} signatures={isolated} />
        </details>
      )}
    </>
  )
}

function Signatures({ view, signatures }: { view: View; signatures: readonly RankedSignature[] }) {
  const shown = signatures.slice(0, MAX_SHOWN)
  return (
    <>
      <ol class="signatures">
        {shown.map((signature) => (
          <li>
            <Signature view={view} signature={signature} />
          </li>
        ))}
      </ol>
      {shown.length < signatures.length && (
        <p class="note">
          {formatCount(signatures.length - shown.length)} more are not shown: filter by tool.
        </p>
      )}
    </>
  )
}

function Signature({ view, signature }: { view: View; signature: RankedSignature }) {
  const { row, sentence } = signature
  const id = stableId('arguments', [row.fingerprint])
  const behind = callsHref(view, {
    ...onlyTool(view.filter, row.server, row.tool),
    signature: row.fingerprint,
  })
  return (
    <article class="signature edge-arguments" id={id} aria-labelledby={`${id}-head`}>
      <header>
        <h2 id={`${id}-head`}>
          <Sentence text={sentence} />
        </h2>
        <p>
          <a href={behind}>See the {plural(row.calls, 'call')}</a>
          {row.toolCalls > 0 && ` · ${formatRate(row.calls / row.toolCalls)} of the tool’s calls`}
          {row.failures < row.calls &&
            ` · ${formatCount(row.calls - row.failures)} succeeded without the argument`}
          {' · last '}
          <Age ms={row.lastMs} view={view} />
        </p>
      </header>
      <div class="signature-body">
        <Sample signature={signature} />
        <Fix signature={signature} id={id} />
      </div>
      <WhyGrouped view={view} signature={signature} id={id} />
    </article>
  )
}

function Sample({ signature }: { signature: RankedSignature }) {
  const { row } = signature
  return (
    <div>
      <h3>
        What was sent, <a href={`/calls/${row.sampleCallId}`}>in this call</a>
      </h3>
      {row.sampleArgs === undefined ? (
        <p class="quiet">The record has no arguments.</p>
      ) : (
        <JsonView text={row.sampleArgs} issues={issuesIn(signature)} />
      )}
    </div>
  )
}

/**
 * A signature's path holds `[*]` for any index and a sample has numbers, so the first few are
 * tried. A wrong name that stands for a missing parameter marks both.
 */
function issuesIn({ row, meant }: RankedSignature): IssueLike[] {
  const issue: IssueLike = meant ? { ...row, suggest: meant.name } : row
  const missing: IssueLike[] =
    meant?.by === 'pair' ? [{ path: meant.name, code: 'missing_required' }] : []
  if (!row.path.includes('[*]')) return [issue, ...missing]
  const atIndex = (index: number) => row.path.replaceAll('[*]', `[${index}]`)
  return [...[0, 1, 2, 3].map((index) => ({ ...issue, path: atIndex(index) })), ...missing]
}

function Fix({ signature: { fix }, id }: { signature: RankedSignature; id: string }) {
  return (
    <div>
      <h3>What to change</h3>
      <p>
        <Sentence text={fix.action} />
      </p>
      <div class="snippet">
        <pre id={`${id}-fix`}>
          <code>
            <Visible text={fix.paste} multiline />
          </code>
        </pre>
        <CopyButton from={`#${id}-fix`} label="Copy" />
      </div>
    </div>
  )
}

const MEANT_WORDS = {
  pair: 'it is missing in the same calls',
  spelling: 'by its spelling',
} as const

function WhyGrouped({
  view,
  signature: { row, meant },
  id,
}: {
  view: View
  signature: RankedSignature
  id: string
}) {
  const clients = row.clients.map((client) => shortened(client, 60)).join(', ')
  const parts: [string, string | undefined][] = [
    ['Kind', codeWords(row.code)],
    ['Where', row.path],
    ['Expected', row.expected],
    ['Received', row.received],
    ['More exactly', row.subtype && subtypeWords(row.subtype)],
    ['Meant', meant && `${meant.name}, ${MEANT_WORDS[meant.by]}`],
    ['Clients', clients],
    ['Fingerprint', row.fingerprint],
  ]
  return (
    <details class="why" id={`${id}-why`}>
      <summary>Why these calls are one entry</summary>
      <Facts
        facts={parts.flatMap(([name, value]): [string, Child][] =>
          value ? [[name, <Visible text={value} />]] : [],
        )}
      />
      <p class="quiet">
        Seen since <Age ms={row.firstMs} view={view} />. No value of an argument is part of it.
      </p>
    </details>
  )
}
