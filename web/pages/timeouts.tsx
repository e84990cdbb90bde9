import type { Finding } from '../analysis/finding.ts'
import type { FindingsStatus } from '../analysis/findings.ts'
import { nextOccurrence, type TimeoutWindow } from '../analysis/timeout-window.ts'
import { clockText } from '../analysis/window-finding.ts'
import { familyOfClass } from './families.tsx'
import { GradeMeter } from './finding-cards.tsx'
import { formatCount, formatInstant, formatMinute, formatRate, WEEKDAY_NAMES } from './format.ts'
import { Figure } from './key-figures.tsx'
import type { View } from './links.tsx'
import { OccurrenceStrip } from './occurrence-strip.tsx'
import { Age, Facts } from './parts.tsx'
import { Sentence } from './visible-text.tsx'

export type TimeoutsRows = {
  windows: readonly TimeoutWindow[]
  findings: readonly Finding[]
  status: FindingsStatus
}

export function TimeoutsPage({ view, rows }: { view: View; rows: TimeoutsRows }) {
  const { windows, findings, status } = rows
  return (
    <>
      <h1>Timeouts and other failures that come back</h1>
      <p class="lead">
        Times of the day or week at which a tool keeps failing, on more days than chance explains.
      </p>
      <Tested view={view} status={status} found={windows.length} />
      <ol class="windows">
        {windows.map((window) => (
          <li>
            <WindowArticle
              view={view}
              window={window}
              finding={findings.find(({ id }) => id === window.id)}
            />
          </li>
        ))}
      </ol>
    </>
  )
}

function Tested({ view, status, found }: { view: View; status: FindingsStatus; found: number }) {
  const { tested, missing, computedMs, range, zone } = status
  return (
    <section class="tested" aria-labelledby="tested">
      <h2 id="tested">
        {found === 0 ? 'No recurring window found' : `${formatCount(found)} found`}
      </h2>
      <p>{tested}</p>
      {missing !== undefined && <p>{missing}</p>}
      <p class="quiet">
        {range && (
          <>
            From {formatInstant(range.fromMs, zone, 'minute')} to{' '}
            {formatInstant(range.toMs, zone, 'minute')} ({zone}).{' '}
          </>
        )}
        {computedMs !== undefined && (
          <>
            Computed <Age ms={computedMs} view={view} />.
          </>
        )}
      </p>
    </section>
  )
}

function WindowArticle({
  view,
  window,
  finding,
}: {
  view: View
  window: TimeoutWindow
  finding: Finding | undefined
}) {
  return (
    <article class={`window edge-${familyOfClass(window.class)}`} id={window.id}>
      <p class="card-grade">
        <GradeMeter grade={window.grade} />
      </p>
      <h2 class="card-sentence">
        <Sentence text={finding?.sentence ?? fallbackSentence(window)} />
      </h2>
      <OccurrenceStrip window={window} />
      <WindowFigures view={view} window={window} />
      {finding && (
        <>
          <p class="card-action">
            <Sentence text={finding.action} />
          </p>
          <p class="card-check">
            <Sentence text={finding.check} />
          </p>
          <p class="card-links">
            <a href={`/calls?${finding.evidenceQuery}`}>See the failed calls</a>
          </p>
        </>
      )}
      <HowComputed window={window} />
    </article>
  )
}

function fallbackSentence({ tool, fromMinute, toMinute, zone, hits, atRisk }: TimeoutWindow) {
  const clock = `${formatMinute(fromMinute)} to ${formatMinute(toMinute)}`
  return `\`${tool}\` fails from ${clock} (${zone}), ${hits} of ${atRisk} times.`
}

function WindowFigures({ view, window }: { view: View; window: TimeoutWindow }) {
  const { inside, outside, riskRatio, hits, atRisk, zone } = window
  const next = nextOccurrence(window, view.nowMs)
  return (
    <div class="figures">
      <Figure
        name="Hit"
        value={`${formatCount(hits)} of ${formatCount(atRisk)}`}
        note="times the tool was called then"
      />
      <Figure name="Fails inside" value={formatRate(inside.rate)} note={shareNote(inside)} />
      <Figure name="Fails outside" value={formatRate(outside.rate)} note={shareNote(outside)} />
      <Figure
        name="That is"
        value={riskRatio ? `${tidy(riskRatio.ratio)} ×` : '–'}
        note={
          riskRatio
            ? `95 % sure: ${tidy(riskRatio.low)} × – ${tidy(riskRatio.high)} ×`
            : 'cannot be told'
        }
      />
      <Figure
        name="Next expected"
        value={formatInstant(next, zone, 'weekdayHour')}
        note={<Age ms={next} view={view} />}
      />
    </div>
  )
}

function shareNote({ calls, failures, interval }: TimeoutWindow['inside']): string {
  const range = interval ? `, ${formatRate(interval.low)} – ${formatRate(interval.high)}` : ''
  return `${formatCount(failures)} of ${formatCount(calls)}${range}`
}

function tidy(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return value >= 10 ? formatCount(Math.round(value)) : String(Number(value.toFixed(1)))
}

function HowComputed({ window }: { window: TimeoutWindow }) {
  const { weekdays, fromMinute, toMinute, zone, range, p, pAdjusted, windowsTried, q } = window
  const days = weekdays.map((day) => WEEKDAY_NAMES[day - 1]).join(', ') || 'every day'
  const at = (ms: number) => formatInstant(ms, zone, 'minute')
  return (
    <details class="why" id={`${window.id}-how`}>
      <summary>How computed</summary>
      <Facts
        facts={[
          ['Window', `${formatMinute(fromMinute)} to ${formatMinute(toMinute)}, ${days}, ${zone}`],
          ['Scanned', `${at(range.fromMs)} to ${at(range.toMs)}, in quarter hours`],
          [
            'Hit',
            'On a day when more calls fail inside the window than chance puts there in one of ten (hypergeometric, against the 24 hours or 7 days around it).',
          ],
          [
            'By chance',
            `p = ${scientific(p)} for so many hits (Poisson binomial); times ${formatCount(windowsTried)} windows tried: ${scientific(pAdjusted)}.`,
          ],
          [
            'False discoveries',
            `q = ${scientific(q)} among all tools and classes scanned (Benjamini–Hochberg).`,
          ],
          ['Clocks', `${clockText(window)}.`],
        ]}
      />
    </details>
  )
}

/** 9.0422e-6 → "9.0 × 10⁻⁶". */
function scientific(value: number): string {
  if (value >= 0.001) return value.toFixed(3)
  if (value === 0) return 'less than 10⁻³⁰⁰'
  const [digits, power] = value.toExponential(1).split('e-')
  const raised = [...(power ?? '')].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('')
  return `${digits} × 10⁻${raised}`
}
