/** Whether the terminal wants bold text: see no-color.org. */
export function mayStyle(stream: { isTTY?: boolean }, env = process.env): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
}

/**
 * Data goes to stdout. Where the reader has had enough (`| head`), the command ends quietly and
 * without an error.
 */
export async function writeData(text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      if (error.code === 'EPIPE') process.exit()
      reject(error)
    }
    process.stdout.once('error', onError)
    process.stdout.write(text, (error) => {
      if (error) return
      process.stdout.off('error', onError)
      resolve()
    })
  })
}

/** Everything that is not data. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

export type ProgressLine = {
  show(text: string): void
  /** Wipes the line, so that the next one starts clean. */
  end(): void
}

const REWRITE_EVERY_MS = 100

export type ProgressLineOptions = {
  stream?: NodeJS.WriteStream
  /** On anything but a terminal: a line of its own so often, the first after so long. 0: none. */
  plainEveryMs?: number
  /** Monotonic. */
  nowMs?: () => number
}

/** One line that is rewritten in place on a terminal. */
export function progressLine(options: ProgressLineOptions = {}): ProgressLine {
  const { stream = process.stderr, plainEveryMs = 0, nowMs = () => performance.now() } = options
  if (!stream.isTTY) return plainLines(stream, plainEveryMs, nowMs)
  const clear = '\r\u001b[2K'
  let shown = ''
  let shownMs = Number.NEGATIVE_INFINITY
  return {
    show(text) {
      if (text === shown || nowMs() - shownMs < REWRITE_EVERY_MS) return
      shown = text
      shownMs = nowMs()
      // A terminal that does not know its width says 0.
      stream.write(clear + text.slice(0, (stream.columns || 80) - 1))
    },
    end() {
      if (shown !== '') stream.write(clear)
      shown = ''
    },
  }
}

function plainLines(
  stream: NodeJS.WriteStream,
  everyMs: number,
  nowMs: () => number,
): ProgressLine {
  let saidMs = nowMs()
  return {
    show(text) {
      if (everyMs === 0 || nowMs() - saidMs < everyMs) return
      saidMs = nowMs()
      stream.write(`${text}\n`)
    },
    end: () => undefined,
  }
}
