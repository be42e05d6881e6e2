// Which packages are in built files, found by source maps, and what the notices beside them say.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'rolldown'
import { bundle } from '../../agent/build.ts'
import { buildProgram } from '../../cli/build.ts'
import { noticesFile, sbomFile } from '../packages/write-notices.ts'

/** With the source maps that published files do not have. */
const mapped: Plugin = {
  name: 'mapped',
  outputOptions: (options) => ({ ...options, sourcemap: true }),
}

export async function packagesInProgram(folder: string): Promise<Set<string>> {
  await buildProgram(folder, [mapped])
  return packagesMappedIn(join(folder, 'dist'))
}

export async function packagesInAgent(folder: string): Promise<Set<string>> {
  await bundle('src/program/main.ts', join(folder, 'jobcast-agent.js'), [mapped])
  await bundle('src/index.ts', join(folder, 'index.js'), [mapped])
  return packagesMappedIn(folder)
}

/** Names of the packages whose files the source maps of a folder name. What is replaced by a line of ours is not theirs. */
function packagesMappedIn(folder: string): Set<string> {
  const names = new Set<string>()
  for (const file of globSync('*.js.map', { cwd: folder })) {
    const { sources, sourcesContent }: SourceMap = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    for (const [at, source] of sources.entries()) {
      const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source) ?? []
      if (name !== undefined && readFileSync(join(folder, source), 'utf8') === sourcesContent[at])
        names.add(name)
    }
  }
  return names
}

type SourceMap = { sources: string[]; sourcesContent: string[] }

type Component = { 'bom-ref': string; group?: string; name: string; version: string }
type Sbom = {
  bomFormat: string
  specVersion: string
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

export function readNotices(read: (file: string) => string) {
  const line = '='.repeat(80)
  const parts = read(noticesFile).split(`${line}\n`).slice(1)
  const notices = parts.flatMap((head, at) => {
    const [, name = '', version = ''] = /^(\S+) (\S+)\n\S.*\n$/.exec(head) ?? []
    return at % 2 === 0 ? [{ name, version, text: parts[at + 1] ?? '' }] : []
  })
  return { notices, sbom: JSON.parse(read(sbomFile)) as Sbom }
}
