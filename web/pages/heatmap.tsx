import type { HeatmapCell } from '../queries/call-store.ts'
import type { Filter } from '../queries/filter.ts'
import { formatCount, formatMinute, formatRate, plural, WEEKDAY_NAMES, WEEKDAYS } from './format.ts'
import { callsHref, onlyFailures, type View } from './links.tsx'
import { WideTable } from './parts.tsx'

/** A found window to draw a line around. No weekdays: every day. */
export type MarkedWindow = {
  weekdays: readonly number[]
  /** Minutes since midnight in the filter's zone; `to` may be the smaller one, over midnight. */
  fromMinute: number
  toMinute: number
}

/** Below this many calls a rate says little, and the cell is hatched. */
const FEW_CALLS = 20

/** Upper bounds of the five shades; a rate of nought has none. */
const SHADES = [0.02, 0.05, 0.15, 0.4, 1] as const

const HOURS = Array.from({ length: 24 }, (_, hour) => hour)

export function Heatmap({
  view,
  cells,
  windows,
}: {
  view: View
  cells: HeatmapCell[]
  windows: readonly MarkedWindow[]
}) {
  const grid = WEEKDAYS.map((_, index) => cells.slice(index * 24, index * 24 + 24))
  const marked = grid.map((row) =>
    row.map((cell) => windows.some((window) => covers(window, cell))),
  )
  return (
    <section aria-labelledby="heatmap">
      <div class="section-head">
        <h2 id="heatmap">When calls fail</h2>
        <Key hasWindows={windows.length > 0} />
      </div>
      <WideTable label="Failure rate by weekday and hour" class="heatmap">
        <caption class="hidden">
          Failure rate by weekday and hour of the day, {view.filter.zone}. Each cell leads to its
          calls.
        </caption>
        <thead>
          <tr>
            <td></td>
            {HOURS.map((hour) => (
              <th scope="col">{String(hour).padStart(2, '0')}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {grid.map((row, day) => (
            <tr>
              <th scope="row">{WEEKDAYS[day]}</th>
              {row.map((cell, hour) => (
                <Cell
                  view={view}
                  cell={cell}
                  edges={marked[day]?.[hour] ? edgesOf(marked, day, hour) : ''}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </WideTable>
    </section>
  )
}

function Key({ hasWindows }: { hasWindows: boolean }) {
  const bounds = [0, ...SHADES]
  return (
    <ul class="legend heat-key">
      {SHADES.map((bound, index) => (
        <li>
          <span class={`swatch heat-${index + 1}`}></span>
          {index === SHADES.length - 1
            ? `over ${formatRate(bounds[index])}`
            : `to ${formatRate(bound)}`}
        </li>
      ))}
      <li>
        <span class="swatch few"></span>fewer than {FEW_CALLS} calls
      </li>
      {hasWindows && (
        <li>
          <span class="swatch edge-t edge-r edge-b edge-l"></span>found window
        </li>
      )}
    </ul>
  )
}

function Cell({ view, cell, edges }: { view: View; cell: HeatmapCell; edges: string }) {
  const { weekday, hour, rated, failures } = cell
  if (rated === 0) return <td class={`none ${edges}`.trim()}></td>
  const rate = failures / rated
  const few = rated < FEW_CALLS ? ' few' : ''
  const when = `${WEEKDAY_NAMES[weekday - 1]} ${formatMinute(hour * 60)}`
  const words = `${formatCount(failures)} of ${plural(rated, 'call')} failed, ${formatRate(rate)}`
  return (
    <td class={`heat-${shadeOf(rate)}${few} ${edges}`.trim()}>
      <a href={cellHref(view, cell)} title={`${when}: ${words}`} aria-label={`${when}: ${words}`}>
        {failures === 0 ? '' : Math.max(1, Math.round(rate * 100))}
      </a>
    </td>
  )
}

export function shadeOf(rate: number): number {
  if (rate <= 0) return 0
  const index = SHADES.findIndex((bound) => rate <= bound)
  return index === -1 ? SHADES.length : index + 1
}

/** The failed calls of the cell; where none failed, all of them. */
function cellHref(view: View, { weekday, hour, failures }: HeatmapCell): string {
  const filter: Filter = {
    ...view.filter,
    weekdays: [weekday],
    timeOfDay: partOfHour(hour, view.filter.timeOfDay),
  }
  return callsHref(view, failures > 0 ? onlyFailures(filter) : filter)
}

/** The hour, or as much of it as the filter's own time of day leaves. */
function partOfHour(hour: number, within: Filter['timeOfDay']): NonNullable<Filter['timeOfDay']> {
  const fromMinute = hour * 60
  const toMinute = fromMinute + 60
  if (!within) return { fromMinute, toMinute }
  const overMidnight = within.fromMinute >= within.toMinute
  const parts = overMidnight
    ? [
        { fromMinute: within.fromMinute, toMinute: 1440 },
        { fromMinute: 0, toMinute: within.toMinute },
      ]
    : [within]
  const part = parts.find((one) => one.fromMinute < toMinute && one.toMinute > fromMinute)
  if (!part) return { fromMinute, toMinute }
  return {
    fromMinute: Math.max(fromMinute, part.fromMinute),
    toMinute: Math.min(toMinute, part.toMinute),
  }
}

/** Does the window touch the cell's hour? What runs past midnight belongs to the next weekday. */
function covers(window: MarkedWindow, { weekday, hour }: HeatmapCell): boolean {
  const from = hour * 60
  const isDay = (day: number) => window.weekdays.length === 0 || window.weekdays.includes(day)
  const touches = (start: number, end: number) => start < from + 60 && end > from
  if (window.fromMinute < window.toMinute) {
    return isDay(weekday) && touches(window.fromMinute, window.toMinute)
  }
  const dayBefore = weekday === 1 ? 7 : weekday - 1
  return (
    (isDay(weekday) && touches(window.fromMinute, 1440)) ||
    (isDay(dayBefore) && touches(0, window.toMinute))
  )
}

/** Sides on which the window ends, so that one line runs round all of its cells. */
function edgesOf(marked: boolean[][], day: number, hour: number): string {
  const edges: string[] = []
  if (!marked[day - 1]?.[hour]) edges.push('edge-t')
  if (!marked[day]?.[hour + 1]) edges.push('edge-r')
  if (!marked[day + 1]?.[hour]) edges.push('edge-b')
  if (!marked[day]?.[hour - 1]) edges.push('edge-l')
  return edges.join(' ')
}
