// The files of deploy/, read in the same way as by the tools that use them.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'

export const repository = fileURLToPath(new URL('../..', import.meta.url))

export function readText(path: string): string {
  return readFileSync(`${repository}/${path}`, 'utf8')
}

/** As compose reads it: with `<<`. */
export function readYaml<T>(path: string): T {
  return parse(readText(path), { merge: true }) as T
}

/** A file may hold several, and an error of one is none of the others'. */
export function yamlProblems(path: string): string[] {
  const documents = parseAllDocuments(readText(path), { merge: true })
  return documents.flatMap(({ errors, warnings }) => [...errors, ...warnings].map(({ message }) => message))
}

/** Instructions of a Dockerfile, each on one line. */
export function dockerfileLines(): string[] {
  const joined = readText('deploy/Dockerfile').replace(/^\s*#.*\n/gm, '')
  return joined
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '')
}

/** What `ENV` of the image says. */
export function imageEnvironment(): Record<string, string> {
  const words = dockerfileLines().flatMap((line) =>
    line.startsWith('ENV ') ? line.split(/\s+/).slice(1) : [],
  )
  return Object.fromEntries(words.map((word) => word.split('=') as [string, string]))
}

type ComposeService = {
  image: string
  build?: { context: string; dockerfile: string }
  environment?: Record<string, string>
  ports?: string[]
  volumes?: string[]
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  restart?: string
  stop_grace_period?: string
  ulimits?: { nofile: { soft: number } }
  deploy?: { resources: { limits: { memory: string; pids: number } } }
}
export type Compose = { services: Record<string, ComposeService>; volumes: Record<string, unknown> }

export const composeFiles = ['deploy/compose.yaml', 'deploy/compose.three-nodes.yaml'] as const
