// What the package.json of a published package says, besides what its workspace says.

import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

type Described = {
  /** Of the repository. */
  workspace: string
  /** The versions of Node it runs on; those of the repository by default. */
  engines?: { node: string }
  exports: Record<string, unknown>
  files: string[]
  bin?: Record<string, string>
}

/** Writes package.json, README and LICENSE. What a published package needs is in its files: it has no dependencies. */
export function describePackage(folder: string, { workspace, ...more }: Described): void {
  const read = (path: string) => JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
  const { name, version, description, type, license, sideEffects } = read(workspace)
  const { repository, engines } = read('.')
  const keywords = ['jobs', 'devices', 'fleet', 'iot', 'mqtt']
  const described = { name, version, description, keywords, license, type, engines, sideEffects, ...more }
  const whole = { ...described, repository: { ...repository, directory: workspace } }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(whole, null, 2)}\n`)
  copyFileSync(join(root, workspace, 'README.md'), join(folder, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}
