// The text of the licence of a package: in a file of its own, in its README, or, where it has neither, in licenses/ here.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const licenseFile = /^(?:licen[cs]e|copying|notice)/i
const kept = join(import.meta.dirname, 'licenses')

/** With the text of a NOTICE, which belongs to it. Throws if there is none. */
export function licenseText(folder: string, name: string, version: string): string {
  const files = readdirSync(folder).sort()
  const own = files
    .filter((file) => licenseFile.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  if (own.length > 0) return own.join('\n\n')
  const readme = files.find((file) => /^readme\.md$/i.test(file))
  const section = readme && sectionOf(readFileSync(join(folder, readme), 'utf8'))
  return section || keptText(name, version)
}

/** One that only names the licence is not enough. */
function sectionOf(readme: string): string | undefined {
  const [, section = ''] = readme.split(/^#+ *licen[cs]e.*$/im)
  const text = (section.split(/^#+ /m)[0] ?? '').trim()
  return text.includes('Permission is hereby granted') ? text : undefined
}

export function keptText(name: string, version: string): string {
  const file = join(kept, `${name}-${version}.txt`)
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  throw new Error(`${name} ${version} has no text of its licence: write it to ${file}`)
}
