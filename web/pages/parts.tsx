import type { Child, PropsWithChildren } from 'hono/jsx'
import type { Interval } from '../analysis/statistics.ts'
import { formatAge, formatInstant, formatIso, formatRate } from './format.ts'
import type { View } from './links.tsx'

/** A moment as a distance from now, with the moment itself for those who need it. */
export function Age({ ms, view }: { ms: number; view: View }) {
  return (
    <time datetime={formatIso(ms)} title={formatInstant(ms, view.filter.zone)}>
      {formatAge(ms, view.nowMs)}
    </time>
  )
}

/** A moment in the filter's zone. */
export function Moment({
  ms,
  zone,
  precision = 'moment',
}: {
  ms: number
  zone: string
  precision?: 'moment' | 'minute' | 'clock'
}) {
  return (
    <time datetime={formatIso(ms)} title={`${formatInstant(ms, zone)} (${zone})`}>
      {formatInstant(ms, zone, precision)}
    </time>
  )
}

/** A table that may be wider than the screen: it scrolls by itself, with the keyboard too. */
export function WideTable({
  label,
  class: className,
  children,
}: PropsWithChildren<{ label: string; class?: string }>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <div class="scroll" role="group" aria-label={label} tabindex={0}>
      <table class={className}>{children}</table>
    </div>
  )
}

export function Empty({ title, children }: PropsWithChildren<{ title: string }>) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}

/** A name with its values, for facts of one thing. */
export function Facts({ facts }: { facts: [string, Child][] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

type Rated = { rate: number; interval: Interval } | undefined

/** "3.2 %" with a bar from zero and a line for the interval. */
export function RateBar({ failureRate }: { failureRate: Rated }) {
  if (!failureRate) return <span class="quiet">no data</span>
  const { rate, interval } = failureRate
  const x = (value: number) => (Math.min(1, Math.max(0, value)) * 100).toFixed(1)
  const words = `95 % interval ${formatRate(interval.low)} to ${formatRate(interval.high)}`
  return (
    <span class="rate" title={words}>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <path class="rate-track" d="M0 7.5H100" />
        <path class="rate-bar" d={`M0 1H${x(rate)}V7H0z`} />
        <path class="rate-range" d={`M${x(interval.low)} 4H${x(interval.high)}`} />
      </svg>
      <span class="number">{formatRate(rate)}</span>
    </span>
  )
}

export function CopyButton({ from, label }: { from: string; label: string }) {
  return (
    <button type="button" class="copy" data-action="copy" data-from={from}>
      {label}
    </button>
  )
}
