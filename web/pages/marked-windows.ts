import type { TimeoutWindow } from '../analysis/timeout-window.ts'
import type { Choice, Filter } from '../queries/filter.ts'
import { wallMs } from '../queries/time-zones.ts'
import type { MarkedWindow } from './heatmap.tsx'

const DAY_MINUTES = 1440

/** The found windows that belong to what the filter shows, in the filter's zone. */
export function markedWindows(windows: readonly TimeoutWindow[], filter: Filter): MarkedWindow[] {
  return windows
    .filter(
      (window) =>
        isShown(filter.server, window.server) &&
        isShown(filter.tool, window.tool) &&
        isShown(filter.class, window.class),
    )
    .map((window) => inZone(window, filter.zone, filter.toMs))
}

function isShown<T extends string>({ include, exclude }: Choice<T>, value: T): boolean {
  return (include.length === 0 || include.includes(value)) && !exclude.includes(value)
}

/** Moved by how far the two zones are apart at the end of the range. */
function inZone(window: TimeoutWindow, zone: string, atMs: number): MarkedWindow {
  const { weekdays, fromMinute, toMinute } = window
  if (zone === window.zone) return { weekdays, fromMinute, toMinute }
  const apart = (wallMs(zone, atMs) - wallMs(window.zone, atMs)) / 60_000
  const moved = fromMinute + apart
  const days = Math.floor(moved / DAY_MINUTES)
  const length = (toMinute - fromMinute + DAY_MINUTES) % DAY_MINUTES
  const from = moved - days * DAY_MINUTES
  return {
    weekdays: weekdays.map((day) => ((((day - 1 + days) % 7) + 7) % 7) + 1),
    fromMinute: from,
    toMinute: (from + length) % DAY_MINUTES || DAY_MINUTES,
  }
}
