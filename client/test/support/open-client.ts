// A real server and a client of it, both gone after the test.

import type { TestContext } from 'node:test'
import { Jobcast, type JobcastOptions } from '@jobcast/client'
import { type OpenServer, openServer, type ServerOptions } from '@jobcast/testkit/open-server'

type OpenClient = { server: OpenServer; jobcast: Jobcast }

export async function openClient(t: TestContext, options: ServerOptions = {}): Promise<OpenClient> {
  const server = await openServer(t, options)
  return { server, jobcast: clientOf(server) }
}

export function clientOf(server: OpenServer, options: Partial<JobcastOptions> = {}): Jobcast {
  return new Jobcast({ url: server.http, apiKey: server.adminKey, ...options })
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
