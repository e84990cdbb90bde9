/** An answer of the upstream that is not a success. */
export class UpstreamHttpError extends Error {
  override readonly name = 'UpstreamHttpError'
  readonly status: number
  /** Shaped as most HTTP libraries shape it, so that status and Retry-After are found. */
  readonly response: { status: number; headers: Headers }

  constructor(message: string, response: { status: number; headers: Headers }) {
    super(message)
    this.status = response.status
    this.response = response
  }
}

export type UpstreamRequest = {
  /** Aborts with the call. */
  signal: AbortSignal
  query?: Record<string, string | number | undefined> | undefined
  headers?: Record<string, string> | undefined
}

export type UpstreamClient = {
  get(path: string, request: UpstreamRequest): Promise<unknown>
  post(path: string, body: unknown, request: UpstreamRequest): Promise<unknown>
}

/**
 * Signs in and gives a client for that session. The upstream counts sessions, so a reconnect can be
 * seen from its side too.
 */
export async function openUpstreamClient(options: {
  baseUrl: string
  /** For each request. */
  timeoutMs: number
}): Promise<UpstreamClient> {
  const send = async (
    path: string,
    { signal, query, headers }: UpstreamRequest,
    init: RequestInit,
  ): Promise<unknown> => {
    const url = new URL(path, options.baseUrl)
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    const response = await fetch(url, {
      ...init,
      headers: { ...init.headers, ...headers },
      signal: AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]),
    })
    if (!response.ok) {
      const body: unknown = await response.json()
      throw new UpstreamHttpError(errorIn(body) ?? `${url.host} answered ${response.status}`, {
        status: response.status,
        headers: response.headers,
      })
    }
    return response.json()
  }

  const post = (path: string, body: unknown, request: UpstreamRequest): Promise<unknown> =>
    send(path, request, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  const session = await post('/sessions', {}, { signal: AbortSignal.timeout(options.timeoutMs) })
  const signedIn = (request: UpstreamRequest): UpstreamRequest => ({
    ...request,
    headers: { ...request.headers, 'x-session': sessionIn(session) },
  })
  return {
    get: (path, request) => send(path, signedIn(request), { method: 'GET' }),
    post: (path, body, request) => post(path, body, signedIn(request)),
  }
}

function errorIn(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('error' in body)) return undefined
  return typeof body.error === 'string' ? body.error : undefined
}

function sessionIn(body: unknown): string {
  if (typeof body === 'object' && body !== null && 'session' in body) return String(body.session)
  throw new Error('The upstream opened no session.')
}
