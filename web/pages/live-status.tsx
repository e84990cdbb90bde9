import type { View } from './links.tsx'
import { Age } from './parts.tsx'

type LiveProps = {
  view: View
  /** The newest call in the whole database, whatever the filter. */
  lastCallMs: number | undefined
}

/** Says that the page follows, lets it be paused, and says since when it is stale. */
export function LiveStatus(props: LiveProps) {
  return (
    <p class="live-status" id="live-status">
      <span class="live-dot" aria-hidden="true"></span>
      <span id="live-words" class="live-words">
        Live
      </span>
      <span id="live-facts">
        <LiveFacts {...props} />
      </span>
      <button
        type="button"
        id="live-toggle"
        class="needs-script"
        data-action="toggle-live"
        aria-pressed="false"
      >
        Pause
      </button>
    </p>
  )
}

/** The part of the status that each refresh brings anew. */
export function LiveFacts({ view, lastCallMs }: LiveProps) {
  if (lastCallMs === undefined) return <span>no call yet</span>
  return (
    <span>
      last call <Age ms={lastCallMs} view={view} />
    </span>
  )
}
