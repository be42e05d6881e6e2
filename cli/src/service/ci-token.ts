// The token that a CI system issues for a job, in place of a stored key. The service exchanges it for a key that is valid for 15 minutes.

import { readFile } from 'node:fs/promises'
import { systemReason } from '@jobcast/contract/words'
import { MissingKey, UsageError } from '../errors/usage-error.ts'
import { isHttpUrl, isLoopback } from './http-url.ts'
import { reasonOf } from './reach.ts'

/** `read` is called again when the key must be renewed: by then the file has been replaced, or GitHub issues a new token. */
export type CiToken = { from: string; read: () => Promise<string> }

type Environment = NodeJS.ProcessEnv

const defaultAudience = 'jobcast'
const timeoutMs = 15_000
const maxTokenLength = 32 * 1024

/** A token set by the user. */
export function givenToken(env: Environment): CiToken | undefined {
  const { JOBCAST_ID_TOKEN: text, JOBCAST_ID_TOKEN_FILE: file } = env
  if (text) return { from: 'JOBCAST_ID_TOKEN', read: async () => checked(text, 'JOBCAST_ID_TOKEN') }
  if (file) return { from: 'JOBCAST_ID_TOKEN_FILE', read: () => readToken(file) }
  return undefined
}

/** Each job of GitHub Actions with `permissions: id-token: write` has these variables. */
export function githubToken(env: Environment): CiToken | undefined {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: bearer } = env
  if (!url || !bearer) return undefined
  const audience = env.JOBCAST_ID_TOKEN_AUDIENCE || defaultAudience
  return { from: 'GitHub Actions', read: () => askGithub(url, bearer, audience) }
}

async function readToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new UsageError(`cannot read the file that JOBCAST_ID_TOKEN_FILE names: ${systemReason(error)}`)
  })
  return checked(text, 'JOBCAST_ID_TOKEN_FILE')
}

async function askGithub(url: string, bearer: string, audience: string): Promise<string> {
  if (!isHttpUrl(url) || (new URL(url).protocol === 'http:' && !isLoopback(new URL(url))))
    throw new UsageError('ACTIONS_ID_TOKEN_REQUEST_URL is not an https address')
  const asked = new URL(url)
  asked.searchParams.set('audience', audience)
  try {
    const response = await fetch(asked, {
      headers: { authorization: `Bearer ${bearer}`, accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (!response.ok) throw new Error(`status ${response.status}`)
    const { value } = (await response.json()) as { value?: unknown }
    return checked(typeof value === 'string' ? value : '', 'GitHub Actions')
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new MissingKey(`GitHub Actions issues no token (${reasonOf(error as Error)}).`)
  }
}

/** The token itself must not appear in a message. */
function checked(text: string, from: string): string {
  const token = text.trim()
  if (token.length > maxTokenLength || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token))
    throw new UsageError(`what ${from} gives is not a token (JWT)`)
  return token
}
