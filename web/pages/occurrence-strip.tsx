import type { TimeoutWindow } from '../analysis/timeout-window.ts'
import { formatInstant } from './format.ts'

const STEP = 10
const SIDE = 8
/** So many squares are as wide as the strip; fewer stand at its left. */
const FULL = 28

/**
 * One square a day (or week) on which the tool was called in the window: filled as high as the
 * share of its calls that failed, outlined where that is more than chance.
 */
export function OccurrenceStrip({ window }: { window: TimeoutWindow }) {
  const { occurrences, zone, hits, atRisk } = window
  const [first, last] = [occurrences[0], occurrences.at(-1)]
  if (!first || !last) return null
  const day = (ms: number) => formatInstant(ms, zone, 'day')
  return (
    <div class="strip">
      <svg
        viewBox={`0 0 ${Math.max(occurrences.length, FULL) * STEP} 20`}
        preserveAspectRatio="xMinYMid meet"
        role="img"
        aria-label={`Hit ${hits} of ${atRisk} times between ${day(first.startMs)} and ${day(last.startMs)}`}
      >
        {occurrences.map(({ startMs, calls, failures, hit }, index) => (
          <g class={hit ? 'hit' : 'missed'}>
            <title>{`${day(startMs)}: ${failures} of ${calls} calls failed`}</title>
            <rect class="slot" x={index * STEP + 1} y="1" width={SIDE} height="18" rx="1.5" />
            <rect
              class="level"
              x={index * STEP + 1}
              y={(19 - 18 * share(failures, calls)).toFixed(1)}
              width={SIDE}
              height={(18 * share(failures, calls)).toFixed(1)}
              rx="1.5"
            />
          </g>
        ))}
      </svg>
      <p class={occurrences.length < FULL ? 'strip-scale short' : 'strip-scale'}>
        <span>{day(first.startMs)}</span>
        <span>{day(last.startMs)}</span>
      </p>
    </div>
  )
}

function share(failures: number, calls: number): number {
  return calls === 0 ? 0 : failures / calls
}
