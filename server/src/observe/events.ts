// What happens in the service, told by whoever sees it. log-lines.ts words it, metrics.ts counts it.

export type WriteKind = 'triggers' | 'devices'

export type ServiceEvent =
  | {
      kind: 'request-answered'
      requestId: string
      method: string
      /** The pattern of the route, not the address asked for: it has no bounds. */
      route: string
      status: number
      ms: number
      keyId: string | undefined
      code: string | undefined
    }
  /** Refused before it was a request: malformed, too large, or too slow. */
  | { kind: 'connection-refused'; code: string }
  | { kind: 'request-failed'; requestId: string; route: string; error: unknown }
  | { kind: 'group-committed'; of: WriteKind; items: number; ms: number }
  | { kind: 'group-failed'; of: WriteKind; items: number }
  | { kind: 'executions-created'; count: number }
  | { kind: 'storage-unavailable'; error: unknown }
  | { kind: 'storage-lost'; error: unknown }
  | { kind: 'background-failed'; task: string; error: unknown }
  | { kind: 'started'; http: string; dataFolder: string; ms: number }
  | { kind: 'plaintext'; host: string }
  | { kind: 'admin-key-unused' }
  | { kind: 'stopping'; signal: string }

export type Tell = (event: ServiceEvent) => void
