// Caches job documents as they are handed out. Versions of jobs and parameters of runs are immutable, so an entry becomes stale
// only when the database is replaced by an older one. The executions of a run share one document, unless it contains placeholders
// of the device, which are filled in per device. Secrets and the newest versions of files may change on any node, and URLs of
// files and objects expire: documents with one of them are filled in each time they are handed out.

import {
  type DeviceValues,
  type DocumentTemplate,
  type FileFacts,
  fileValues,
  fillTemplate,
  namesUsed,
  parseDocument,
  placeholderText,
  type SecretValues,
  templateJson,
} from '@jobcast/contract/parameters'
import type { SecretBox } from '../domain/access/ports/secret-box.ts'
import type { Store } from '../domain/common/ports/store.ts'
import type { DeviceKey } from '../domain/device/device-key.ts'
import {
  type DeviceDocument,
  type HandedOut,
  type JobTemplate,
  UnresolvedDocument,
} from '../domain/execution/ports/documents.ts'
import type { FileLinks } from '../domain/file/file-links.ts'
import type { JobSignature } from '../domain/job/ports/jobs.ts'
import { openValues } from '../domain/trigger/run-values.ts'

/** All cached documents together, in characters. */
const maxCachedLength = 16 * 1024 * 1024

/** `signed`: fields of JSON text behind a comma; empty if nothing is signed. */
type Version = JobTemplate & {
  files: readonly string[]
  signed: string
  shared: DeviceDocument | undefined
}
/** `template` has the parameters filled in; `files`: those that it names; `shared`: set if nothing differs by device. */
type RunDocument = {
  template: DocumentTemplate
  files: readonly string[]
  parameters: string | undefined
  signed: string
  shared: DeviceDocument | undefined
}
/** Sent beside the document, as JSON text. */
type Beside = {
  parameters: string | undefined
  secrets?: string | undefined
  fileFacts?: string | undefined
  ownUrls?: Readonly<Record<string, string>> | undefined
  signed: string
}

type DocumentStore = Pick<
  Store,
  'getDocument' | 'getSignature' | 'getRunValues' | 'listDeviceValues' | 'findSecrets' | 'findFiles'
>

export class Documents {
  readonly #store: DocumentStore
  readonly #box: SecretBox
  readonly #links: FileLinks
  readonly #versions = new Map<number, Version>()
  readonly #runs = new Map<number, RunDocument>()
  #size = 0

  constructor(store: DocumentStore, box: SecretBox, links: FileLinks) {
    this.#store = store
    this.#box = box
    this.#links = links
  }

  content(jobVersion: number): JobTemplate | Promise<JobTemplate> {
    return this.#versions.get(jobVersion) ?? this.#readVersion(jobVersion)
  }

  of(execution: HandedOut, device: DeviceKey): DeviceDocument | Promise<DeviceDocument> {
    const shared = this.#versions.get(execution.jobVersion)?.shared ?? this.#runs.get(execution.runId)?.shared
    return shared ?? this.#forOne(execution, device)
  }

  /** One document for all devices of the run, or a function that builds those of given devices. Throws UnresolvedDocument. */
  async ofRun(run: HandedOut & { ownerNo: number }): Promise<DeviceDocument | DevicesOf> {
    const version = await this.#version(run.jobVersion)
    if (version.shared) return version.shared
    const filled = await this.#withChanging(await this.#run(run, version, run.ownerNo), run.ownerNo)
    return filled.shared ?? ((deviceIds) => this.#forDevices(filled, run.ownerNo, deviceIds))
  }

  clear(): void {
    this.#versions.clear()
    this.#runs.clear()
    this.#size = 0
  }

  async #forOne(execution: HandedOut, { ownerNo, deviceId }: DeviceKey): Promise<DeviceDocument> {
    const made = await this.ofRun({ ...execution, ownerNo })
    if (typeof made !== 'function') return made
    const [document] = await made([deviceId])
    if (document === undefined || 'missing' in document) throw new UnresolvedDocument(document?.missing ?? '')
    return document
  }

  async #forDevices(
    { template, ...beside }: RunDocument & Beside,
    ownerNo: number,
    deviceIds: string[],
  ): Promise<(DeviceDocument | { missing: string } | undefined)[]> {
    const found = await this.#valuesOf(template, ownerNo, deviceIds)
    return deviceIds.map((deviceId) => {
      const device = found.get(deviceId)
      if (device === undefined) return undefined
      const filled = fillTemplate(template, { device })
      if (filled.missing.length > 0) return { missing: filled.missing.map(placeholderText).join(', ') }
      return toDocument(templateJson(filled.template), beside)
    })
  }

  /** Most device placeholders are the deviceId, which needs no read. */
  async #valuesOf(
    { holes }: DocumentTemplate,
    ownerNo: number,
    deviceIds: string[],
  ): Promise<Map<string, DeviceValues>> {
    if (holes.every(({ from, name }) => from === 'device' && name === 'deviceId')) {
      return new Map(deviceIds.map((deviceId) => [deviceId, { deviceId, deviceName: '', attributes: {} }]))
    }
    const names = holes.filter(({ from }) => from === 'attributes').map(({ name }) => name)
    const found = await this.#store.listDeviceValues({ ownerNo, deviceIds, names: [...new Set(names)] })
    return new Map(found.map((values) => [values.deviceId, values]))
  }

  /** Fills in secrets, files and objects. The result is not cached. */
  async #withChanging(document: RunDocument, ownerNo: number): Promise<RunDocument & Beside> {
    const secretNames = namesUsed(document.template, 'secrets')
    const objectNames = namesUsed(document.template, 'object')
    const { files, parameters, signed } = document
    if (secretNames.length === 0 && files.length === 0 && objectNames.length === 0) return document
    const secrets = await this.#secretsOf(secretNames, ownerNo)
    const { facts, ownUrls } = await this.#factsOf(files, ownerNo)
    const objects = await this.#objectsOf(objectNames)
    const values = { secrets, files: fileValues(facts), objects }
    const { template, missing } = fillTemplate(document.template, values)
    const absent = files.filter((ref) => !Object.hasOwn(facts, ref)).map((ref) => `\${file.${ref}}`)
    const withoutValues = [...absent, ...missing.map(placeholderText)]
    if (withoutValues.length > 0) throw new UnresolvedDocument(withoutValues.join(', '))
    const beside = {
      ...{ parameters, signed },
      ...(secretNames.length > 0 && { secrets: JSON.stringify(secrets) }),
      ...(files.length > 0 && { fileFacts: JSON.stringify(facts), ownUrls }),
    }
    const shared = template.holes.length === 0 ? toDocument(templateJson(template), beside) : undefined
    return { template, files, ...beside, shared }
  }

  async #secretsOf(secretNames: string[], ownerNo: number): Promise<SecretValues> {
    if (secretNames.length === 0) return {}
    const found = await this.#store.findSecrets({ ownerNo, secretNames })
    return Object.fromEntries(
      found.map(({ secretName, sealed }) => [secretName, this.#box.decrypt(sealed, ownerNo)]),
    )
  }

  async #factsOf(
    refs: readonly string[],
    ownerNo: number,
  ): Promise<{ facts: Record<string, FileFacts>; ownUrls?: Record<string, string> }> {
    if (refs.length === 0) return { facts: {} }
    const found = await this.#store.findFiles({ ownerNo, refs: [...refs] })
    const linked = await Promise.all(
      found.map(async (file) => ({ ref: file.ref, ...(await this.#links.factsFor(ownerNo, file)) })),
    )
    const own = linked.flatMap(({ ref, ownUrl }) => (ownUrl === undefined ? [] : [[ref, ownUrl] as const]))
    return {
      facts: Object.fromEntries(linked.map(({ ref, facts }) => [ref, facts])),
      ...(own.length > 0 && { ownUrls: Object.fromEntries(own) }),
    }
  }

  async #objectsOf(names: readonly string[]): Promise<Record<string, string>> {
    const urls = await Promise.all(
      names.map(async (name) => [name, await this.#links.objectUrl(name)] as const),
    )
    return Object.fromEntries(urls.filter((entry): entry is [string, string] => entry[1] !== undefined))
  }

  async #run({ runId }: HandedOut, version: Version, ownerNo: number): Promise<RunDocument> {
    const cached = this.#runs.get(runId)
    if (cached) return cached
    const stored = await this.#store.getRunValues({ runId })
    const params = stored ? openValues(this.#box, ownerNo, stored) : {}
    const parameters = version.schema && JSON.stringify(params)
    const given = version.template ?? { texts: [version.document], holes: [] }
    const { template, missing } = fillTemplate(given, { params, run: { runId } })
    if (missing.length > 0) throw new UnresolvedDocument(missing.map(placeholderText).join(', '))
    const { files } = version
    const isShared = template.holes.length === 0 && files.length === 0
    // An agent that fills in the signed document itself needs the runId as well.
    const signed = version.signed && `${version.signed},"runId":${runId}`
    const beside = { parameters, signed }
    const shared = isShared ? toDocument(templateJson(template), beside) : undefined
    const made = { template, files, ...beside, shared }
    this.#makeRoom(template.texts.reduce((sum, text) => sum + text.length, 0))
    this.#runs.set(runId, made)
    return made
  }

  async #version(jobVersion: number): Promise<Version> {
    return this.#versions.get(jobVersion) ?? this.#readVersion(jobVersion)
  }

  async #readVersion(jobVersion: number): Promise<Version> {
    const stored = await this.#store.getDocument({ jobVersion })
    const { document, parameters: schema, hasPlaceholders, files = [] } = stored
    const template = hasPlaceholders ? parseDocument(JSON.parse(document)) : undefined
    const signed = signedFields(await this.#store.getSignature({ jobVersion }))
    const beside = { parameters: undefined, signed }
    const shared = template || schema ? undefined : toDocument(document, beside)
    const version = { document, schema, template, files, signed, shared }
    if (!this.#versions.has(jobVersion)) this.#makeRoom(document.length + signed.length)
    this.#versions.set(jobVersion, version)
    return version
  }

  #makeRoom(length: number): void {
    if (this.#size + length > maxCachedLength) this.clear()
    this.#size += length
  }
}

/** In the order of the devices; undefined: the device no longer exists. */
type DevicesOf = (deviceIds: string[]) => Promise<(DeviceDocument | { missing: string } | undefined)[]>

function toDocument(
  json: string,
  { parameters, secrets, fileFacts, ownUrls, signed }: Beside,
): DeviceDocument {
  const values = {
    ...(parameters !== undefined && { parameters }),
    ...(secrets !== undefined && { secrets }),
    ...(fileFacts !== undefined && { files: fileFacts }),
    ...(ownUrls && { ownUrls }),
  }
  return { json, ...values, ...(signed !== '' && { signed }) }
}

function signedFields(signature: JobSignature | undefined): string {
  if (signature === undefined) return ''
  const { jobName, envelope } = signature
  return `,"jobName":${JSON.stringify(jobName)},"jobSignature":${JSON.stringify(envelope)}`
}
