import type { Attempt } from '../../server/call-log/record.ts'
import type { CallDetail } from '../queries/call-store.ts'
import { type CallFacts, readCallFacts } from './call-facts.ts'
import { CallTable, marksOf } from './call-table.tsx'
import { FamilyIcon, familyOf, familyOfClass, OutcomeMark, wordOfClass } from './families.tsx'
import { formatCount, formatDuration } from './format.ts'
import { issueSentence } from './issue-words.ts'
import { JsonView } from './json-view.tsx'
import { callsHref, onlyTool, type View } from './links.tsx'
import { CopyButton, Facts, Moment } from './parts.tsx'
import { RecordFacts } from './record-facts.tsx'
import { Name, Sentence, shortened, Visible } from './visible-text.tsx'

const MAX_STACK = 20_000

export function CallPage({ view, call }: { view: View; call: CallDetail }) {
  const facts = readCallFacts(call.detail)
  return (
    <article class="call">
      <Head view={view} call={call} />
      <ErrorBox call={call} facts={facts} />
      <Late call={call} />
      <div class="call-columns">
        <div>
          <Arguments call={call} facts={facts} />
          <Attempts attempts={facts.attempts} totalMs={call.durationMs} />
          <Neighbours view={view} call={call} />
        </div>
        <aside aria-label="Facts">
          <RecordFacts view={view} call={call} facts={facts} />
        </aside>
      </div>
    </article>
  )
}

function Head({ view, call }: { view: View; call: CallDetail }) {
  return (
    <>
      <nav class="crumbs" aria-label="Where this is">
        <a href="/calls">Calls</a>
        <a href={callsHref(view, onlyTool(view.filter, call.server, call.tool))}>
          <Name text={call.tool} />
        </a>
      </nav>
      <h1>
        <Name text={call.tool} />
      </h1>
      <p class="call-line">
        <OutcomeMark outcome={call.outcome} errorClass={call.class} />
        <span>
          <Moment ms={call.startedMs} zone={view.filter.zone} /> ({view.filter.zone})
        </span>
        <span>took {formatDuration(call.durationMs)}</span>
        {marksOf(call).map((mark) => (
          <span class="mark">{mark}</span>
        ))}
      </p>
    </>
  )
}

/** The client was told that it failed, or nothing; what the tool did may be done all the same. */
function Late({ call: { late, outcome } }: { call: CallDetail }) {
  if (late.length === 0) return null
  return (
    <div class="notice late">
      {late.map((ending) => (
        <p>{lateWords(ending, outcome)}</p>
      ))}
    </div>
  )
}

function lateWords({ ms, outcome: end }: CallDetail['late'][number], outcome: string): string {
  const after = `${formatDuration(ms)} after the call began`
  if (outcome === 'deferred') return `The task that it was answered with ${end} ${after}.`
  if (outcome !== 'failed') return `The client was gone before the answer: heard ${after}.`
  return end === 'succeeded'
    ? `The handler went on after the call was closed, and succeeded ${after}. Nobody got its result; what it did is done.`
    : `The handler went on after the call was closed, and failed ${after}.`
}

function ErrorBox({
  call,
  facts: { error, causes, issues },
}: {
  call: CallDetail
  facts: CallFacts
}) {
  if (!error && call.class === undefined) return null
  const family = familyOf(call.outcome, call.class)
  return (
    <section class={`error-box edge-${family}`} aria-label="Error">
      <p class="error-message">
        <ErrorMessage text={error?.message || call.errorMessage || 'no message'} call={call} />
      </p>
      {/* With arguments to point at, the issues stand beside them. */}
      {call.args === undefined && issues.length > 0 && (
        <ul class="issues">
          {issues.map((issue) => (
            <li>
              <Sentence text={issueSentence(issue)} />
            </li>
          ))}
        </ul>
      )}
      <Facts facts={errorFacts(error)} />
      {causes.length > 0 && (
        <>
          <h2>Caused by</h2>
          <ol class="causes">
            {causes.map((cause) => (
              <li>
                {[cause.name, cause.code].filter(Boolean).map((part) => (
                  <>
                    <code>
                      <Visible text={part ?? ''} />
                    </code>{' '}
                  </>
                ))}
                <Visible text={cause.message} />
              </li>
            ))}
          </ol>
        </>
      )}
      {error?.stack && (
        <details class="stack">
          <summary>Stack</summary>
          <pre>
            <code>
              <Visible text={shortened(error.stack, MAX_STACK)} multiline />
            </code>
          </pre>
        </details>
      )}
    </section>
  )
}

/** Messages about arguments are ours, with names in backticks; others are shown as they came. */
function ErrorMessage({ text, call }: { text: string; call: CallDetail }) {
  const isOurs = call.class !== undefined && familyOfClass(call.class) === 'arguments'
  return isOurs ? <Sentence text={text} /> : <Visible text={text} multiline />
}

const ENDED_BY: Readonly<Record<string, string>> = {
  client: 'the client',
  deadline: 'the deadline',
  self: 'the process itself',
  other: 'something outside the process',
  shutdown: 'a shutdown',
}

function errorFacts(error: CallFacts['error']): [string, string][] {
  if (!error) return []
  const facts: [string, string | undefined][] = [
    ['Name', error.name],
    ['Code', error.code],
    ['Upstream', error.upstream],
    ['Status', error.status === undefined ? undefined : String(error.status)],
    ['Retry after', error.retry_after_s === undefined ? undefined : `${error.retry_after_s} s`],
    ['Ended by', error.by && (ENDED_BY[error.by] ?? error.by)],
  ]
  return facts.flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : []))
}

function Arguments({ call, facts }: { call: CallDetail; facts: CallFacts }) {
  return (
    <section aria-labelledby="arguments">
      <div class="section-head">
        <h2 id="arguments">Arguments</h2>
        {call.args !== undefined && (
          <CopyButton from={`/calls/${call.id}/arguments`} label="Copy" />
        )}
      </div>
      {call.args === undefined ? (
        <p class="quiet">The record has none.</p>
      ) : (
        <JsonView text={call.args} issues={facts.issues} />
      )}
      {facts.dropped.length > 0 && (
        <p class="dropped">
          Dropped without a word, since the tool has no such parameter:{' '}
          {facts.dropped.map((key) => (
            <>
              <Name text={key} />{' '}
            </>
          ))}
        </p>
      )}
    </section>
  )
}

function Attempts({ attempts, totalMs }: { attempts: readonly Attempt[]; totalMs: number }) {
  if (attempts.length < 2) return null
  const spent = attempts.reduce((sum, { ms, wait_ms }) => sum + ms + (wait_ms ?? 0), 0)
  const scale = 100 / Math.max(spent, totalMs, 0.001)
  let at = 0
  return (
    <section aria-labelledby="attempts">
      <h2 id="attempts">{formatCount(attempts.length)} attempts</h2>
      <ol class="attempts">
        {attempts.map((attempt) => {
          at += attempt.wait_ms ?? 0
          const from = at
          at += attempt.ms
          return <AttemptRow attempt={attempt} from={from * scale} width={attempt.ms * scale} />
        })}
      </ol>
    </section>
  )
}

function AttemptRow({ attempt, from, width }: { attempt: Attempt; from: number; width: number }) {
  const family = attempt.class ? familyOfClass(attempt.class) : 'succeeded'
  return (
    <li>
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <path class="rate-track" d="M0 9.5H100" />
        <rect
          class={`fill-${family}`}
          x={from.toFixed(2)}
          y="1"
          width={Math.max(width, 0.4).toFixed(2)}
          height="8"
        />
      </svg>
      <span class="outcome">
        <FamilyIcon family={family} />
        {attempt.class ? wordOfClass(attempt.class) : 'Succeeded'}
      </span>
      <span>
        {attempt.wait_ms !== undefined && `waited ${formatDuration(attempt.wait_ms)}, then `}
        {formatDuration(attempt.ms)}
        {attempt.reconnected && ', on a new connection'}
        {attempt.code && (
          <>
            , <Visible text={attempt.code} />
          </>
        )}
      </span>
    </li>
  )
}

function Neighbours({ view, call }: { view: View; call: CallDetail }) {
  if (call.session === undefined || call.neighbours.length === 0) return null
  const rows = [...call.neighbours.filter(({ id }) => id !== call.id), call].sort(
    (a, b) => a.startedMs - b.startedMs || a.id - b.id,
  )
  const session = callsHref(view, { ...view.filter, session: call.session })
  return (
    <section aria-labelledby="session">
      <div class="section-head">
        <h2 id="session">Around it in the session</h2>
        <a href={session}>Whole session</a>
      </div>
      <CallTable view={view} rows={rows} label="Calls of the same session" current={call.id} />
    </section>
  )
}
