import type { Facets, SignatureRow } from '../queries/call-store.ts'
import { fixFor } from './argument-fix.ts'
import { FilterBar } from './filter-bar.tsx'
import { formatCount, formatRate, plural } from './format.ts'
import { codeWords, issueSentence, subtypeWords } from './issue-words.ts'
import { JsonView } from './json-view.tsx'
import { callsHref, idOf, onlyTool, type View } from './links.tsx'
import { Age, CopyButton, Empty, Facts } from './parts.tsx'
import { Name, Sentence, shortened, Visible } from './visible-text.tsx'

/** Fewer sessions than this may be one caller's bad day. */
const RECURRING_SESSIONS = 2

const MAX_SHOWN = 50

export type ArgumentsRows = { signatures: SignatureRow[]; facets: Facets }

export function ArgumentsPage({ view, rows }: { view: View; rows: ArgumentsRows }) {
  const recurring = rows.signatures.filter(({ sessions }) => sessions >= RECURRING_SESSIONS)
  const isolated = rows.signatures.filter(({ sessions }) => sessions < RECURRING_SESSIONS)
  return (
    <>
      <h1>Malformed arguments</h1>
      <p class="lead">
        Each entry is one way in which callers get a tool’s arguments wrong, so each has one fix.
        Most sessions first.
      </p>
      <FilterBar view={view} facets={rows.facets} open={false} />
      {rows.signatures.length === 0 ? (
        <Empty title="No malformed arguments">
          <p>Every call in this range came with arguments that its tool accepts.</p>
        </Empty>
      ) : (
        <Signatures view={view} signatures={recurring} />
      )}
      {recurring.length === 0 && isolated.length > 0 && (
        <p class="quiet">None was seen in more than one session.</p>
      )}
      {isolated.length > 0 && (
        <details class="isolated" id="isolated">
          <summary>{plural(isolated.length, 'isolated one')}, each in one session only</summary>
          <Signatures view={view} signatures={isolated} />
        </details>
      )}
    </>
  )
}

function Signatures({ view, signatures }: { view: View; signatures: readonly SignatureRow[] }) {
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

function Signature({ view, signature }: { view: View; signature: SignatureRow }) {
  const { tool, server, calls, sessions, toolCalls, fingerprint } = signature
  const behind = callsHref(view, { ...onlyTool(view.filter, server, tool), signature: fingerprint })
  return (
    <article class="signature edge-arguments" aria-labelledby={idOf('signature', fingerprint)}>
      <header>
        <h2 id={idOf('signature', fingerprint)}>
          <Name text={tool} /> <Sentence text={issueSentence(signature)} />
        </h2>
        <p>
          <a href={behind}>{plural(calls, 'call')}</a> in {plural(sessions, 'session')}
          {toolCalls > 0 && ` · ${formatRate(calls / toolCalls)} of the tool’s calls`} · last{' '}
          <Age ms={signature.lastMs} view={view} />
        </p>
      </header>
      <div class="signature-body">
        <Sample signature={signature} />
        <Fix signature={signature} />
      </div>
      <WhyGrouped view={view} signature={signature} />
    </article>
  )
}

function Sample({ signature }: { signature: SignatureRow }) {
  return (
    <div>
      <h3>
        What was sent <a href={`/calls/${signature.sampleCallId}`}>in this call</a>
      </h3>
      {signature.sampleArgs === undefined ? (
        <p class="quiet">The record has no arguments.</p>
      ) : (
        <JsonView text={signature.sampleArgs} issues={issuesInSample(signature)} />
      )}
    </div>
  )
}

/** The signature's path holds `[*]` for any index; the sample has numbers: mark the first that fits. */
function issuesInSample(signature: SignatureRow): SignatureRow[] {
  if (!signature.path.includes('[*]')) return [signature]
  return [0, 1, 2, 3].map((index) => ({
    ...signature,
    path: signature.path.replaceAll('[*]', `[${index}]`),
  }))
}

function Fix({ signature }: { signature: SignatureRow }) {
  const fix = fixFor(signature)
  const id = idOf('fix', signature.fingerprint)
  return (
    <div>
      <h3>What to change</h3>
      <p>
        <Sentence text={fix.words} />
      </p>
      <div class="snippet">
        <pre id={id}>
          <code>
            <Visible text={fix.snippet} />
          </code>
        </pre>
        <CopyButton from={`#${id}`} label="Copy" />
      </div>
    </div>
  )
}

function WhyGrouped({ view, signature }: { view: View; signature: SignatureRow }) {
  const { code, path, subtype, expected, received, suggest, fingerprint } = signature
  const parts: [string, string | undefined][] = [
    ['Kind', codeWords(code)],
    ['Where', path],
    ['Expected', expected],
    ['Received', received],
    ['More exactly', subtype && subtypeWords(subtype)],
    ['Probably meant', suggest],
    ['Clients', signature.clients.map((client) => shortened(client, 60)).join(', ')],
    ['Fingerprint', fingerprint],
  ]
  return (
    <details class="why" id={idOf('why', fingerprint)}>
      <summary>Why these calls are one entry</summary>
      <Facts
        facts={parts.flatMap(([name, value]): [string, ReturnType<typeof Visible>][] =>
          value ? [[name, <Visible text={value} />]] : [],
        )}
      />
      <p class="quiet">
        Seen since <Age ms={signature.firstMs} view={view} />. No value of an argument is part of
        it.
      </p>
    </details>
  )
}
