// THIRD-PARTY-NOTICES for people and sbom.cdx.json (CycloneDX) for scanners: what of others is in a package. Both are the same
// for the same content.

import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PackageId, ThirdParty } from './third-party.ts'

export const noticesFile = 'THIRD-PARTY-NOTICES'
export const sbomFile = 'sbom.cdx.json'

/** Behind describePackage: name and version are those of its package.json. */
export function writeNotices(folder: string, packages: readonly ThirdParty[]): void {
  const self: Named = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  writeFileSync(join(folder, noticesFile), noticesText(self, packages))
  writeFileSync(join(folder, sbomFile), `${JSON.stringify(sbomOf(self, packages), null, 2)}\n`)
}

type Named = { name: string; version: string; license: string }

const line = '='.repeat(80)

function noticesText({ name }: Named, packages: readonly ThirdParty[]): string {
  if (packages.length === 0) return `The package ${name} contains no software of others.\n`
  const head = `The package ${name} contains the software of others listed here, each under its own licence.\n`
  const list = packages.map(({ name, version, license }) => `- ${name} ${version} (${license})`).join('\n')
  const texts = packages.map(
    ({ name, version, license, text }) => `${line}\n${name} ${version}\n${license}\n${line}\n\n${text}\n`,
  )
  return [head, list, '', ...texts].join('\n')
}

function sbomOf(self: Named, packages: readonly ThirdParty[]): object {
  const bundled = new Set(packages.map(purlOf))
  const content = {
    metadata: { component: { type: 'application', 'bom-ref': purlOf(self), ...described(self) } },
    components: packages.map((each) => ({
      type: 'library',
      'bom-ref': purlOf(each),
      ...described(each),
      ...(each.integrity !== undefined && { hashes: [hashOf(each.integrity)] }),
    })),
    dependencies: [
      { ref: purlOf(self), dependsOn: packages.map(purlOf) },
      ...packages.map((each) => ({
        ref: purlOf(each),
        dependsOn: each.needs.map(purlOf).filter((ref) => bundled.has(ref)),
      })),
    ],
  }
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(content))}`
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, version: 1, ...content }
}

function described(given: Named) {
  const [name = '', group] = given.name.split('/').reverse()
  const licenses = [{ expression: given.license }]
  return {
    ...(group !== undefined && { group }),
    name,
    version: given.version,
    licenses,
    purl: purlOf(given),
  }
}

function purlOf({ name, version }: PackageId): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

/** sha512-… in base64, as npm writes it. */
function hashOf(integrity: string): { alg: string; content: string } {
  const [alg = '', content = ''] = integrity.split('-')
  return { alg: alg.replace('sha', 'SHA-'), content: Buffer.from(content, 'base64').toString('hex') }
}

/** Of the content, so that two builds of the same have the same. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 0x3) | 0x8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-')
}
