import type { Child } from 'hono/jsx'
import type { KeyFigures } from '../queries/call-store.ts'
import type { Filter } from '../queries/filter.ts'
import { formatCount, formatDuration, formatRate, NO_VALUE, plural } from './format.ts'
import { callsHref, onlyFailures, type View } from './links.tsx'

/** The numbers that one looks at first, each a link to the calls it counts. */
export function KeyFigureRow({ view, figures }: { view: View; figures: KeyFigures }) {
  const { filter } = view
  const only = (outcome: 'retried'): Filter => ({
    ...filter,
    outcome: { include: [outcome], exclude: [] },
  })
  const { failureRate } = figures
  return (
    <section class="figures" aria-label="Key figures">
      <Figure
        name="Calls"
        value={formatCount(figures.calls)}
        href={callsHref(view)}
        say={plural(figures.calls, 'call')}
        note={
          figures.hidden > 0 ? `${formatCount(figures.hidden)} hidden by filters` : rangeNote(view)
        }
      />
      <Figure
        name="Failed"
        value={formatCount(figures.failures)}
        href={callsHref(view, onlyFailures(filter))}
        note={`of ${formatCount(figures.rated)} that count`}
      />
      <Figure
        name="Failure rate"
        value={formatRate(failureRate?.rate)}
        note={
          failureRate
            ? `95 % sure: ${formatRate(failureRate.interval.low)} – ${formatRate(failureRate.interval.high)}`
            : 'no data'
        }
      />
      <Figure
        name="Saved by a retry"
        value={formatCount(figures.byOutcome.retried)}
        href={callsHref(view, only('retried'))}
        note={retryNote(figures)}
      />
      <Figure
        name="Median duration"
        value={formatDuration(figures.p50Ms)}
        note={
          (figures.p95Ms === undefined
            ? 'no data'
            : `95 % within ${formatDuration(figures.p95Ms)}`) + keptNote(figures)
        }
      />
      <Figure
        name="Sessions"
        value={figures.calls === 0 ? NO_VALUE : formatCount(figures.sessions)}
        note={`that could be told apart${keptNote(figures)}`}
      />
    </section>
  )
}

function rangeNote({ filter }: View): string {
  const hours = Math.round((filter.toMs - filter.fromMs) / 3_600_000)
  return hours <= 48 ? `in ${plural(hours, 'hour')}` : `in ${plural(Math.round(hours / 24), 'day')}`
}

/** What only rows know is not known of calls whose rows were removed. */
function keptNote({ calls, removed }: KeyFigures): string {
  if (removed === 0) return ''
  return `, of the ${formatCount(Math.max(0, calls - removed))} calls kept`
}

function retryNote({ byOutcome, rated }: KeyFigures): string {
  return rated === 0 ? 'no data' : `${formatRate(byOutcome.retried / rated)} of calls`
}

export function Figure({
  name,
  value,
  href,
  note,
  say,
}: {
  name: string
  value: string
  href?: string
  note: Child
  /** Said aloud when the filter has changed. */
  say?: string
}) {
  return (
    <div class="figure">
      <p class="figure-name">{name}</p>
      <p class="figure-value" data-say={say}>
        {href ? <a href={href}>{value}</a> : value}
      </p>
      <p class="figure-note">{note}</p>
    </div>
  )
}
