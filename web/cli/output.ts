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

/** One line that is rewritten in place; on anything but a terminal it says nothing. */
export function progressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  if (!stream.isTTY) return { show: () => undefined, end: () => undefined }
  const clear = '\r\u001b[2K'
  let shown = ''
  let shownMs = Number.NEGATIVE_INFINITY
  return {
    show(text) {
      if (text === shown || performance.now() - shownMs < REWRITE_EVERY_MS) return
      shown = text
      shownMs = performance.now()
      // A terminal that does not know its width says 0.
      stream.write(clear + text.slice(0, (stream.columns || 80) - 1))
    },
    end() {
      if (shown !== '') stream.write(clear)
      shown = ''
    },
  }
}
