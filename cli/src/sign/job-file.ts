// A file with jobs to sign: a fleet file, or the content of one job as for `jobs put -f`. Signatures are written into the
// file, which keeps its comments.

import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { JobContent } from '@jobcast/contract'
import { systemReason } from '@jobcast/contract/words'
import { type Document, isMap, isSeq, type Pair, parseAllDocuments, type YAMLMap } from 'yaml'
import { UsageError } from '../errors/usage-error.ts'
import { yamlReason } from '../errors/yaml-reason.ts'
import type { Fields } from '../fleet/kinds/kind.ts'
import { buildCheck } from '../fleet/schema-problems.ts'
import { keyText, YamlReader } from '../fleet/yaml-reader.ts'

export type FileJob = { jobName: string; content: Fields; setSignatures(signatures: unknown[]): void }
type JobFile = { jobs: FileJob[]; write(to: string): void }

type Found = { name: string; node: unknown }

/** `jobName` is the name for a job file; for a fleet file it selects one job. */
export function readJobFile(file: string, jobName: string | undefined): JobFile {
  const documents = parse(file)
  const found = documents.flatMap((document) => jobsOf(document, file, jobName))
  const wanted = found.filter(({ job }) => jobName === undefined || job.jobName === jobName)
  if (wanted.length === 0) {
    throw new UsageError(jobName === undefined ? `${file} has no jobs` : `${file} has no job ${jobName}`)
  }
  return {
    jobs: wanted.map(({ job }) => job),
    write: (to) => writeText(to, textOf(documents, file)),
  }
}

function parse(file: string): Document[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${systemReason(error as Error)}`)
  }
  const documents = parseAllDocuments(text)
  const list = Array.isArray(documents) ? documents : []
  for (const { errors } of list) {
    if (errors[0]) throw new UsageError(`${file} is not valid YAML: ${yamlReason(errors[0])}`)
  }
  return list.filter(({ contents }) => contents !== null)
}

function jobsOf(document: Document, file: string, jobName: string | undefined): { job: FileJob }[] {
  const reader = new YamlReader((_, problem) => {
    throw new UsageError(`${file}: ${problem}`)
  })
  const { contents } = document
  if (!isMap(contents)) throw new UsageError(`${file} must contain a map of fields`)
  const value = reader.read(contents) as Fields
  const pair = pairAt(contents, 'jobs')
  if (pair === undefined) {
    // The content of one job, named after the file by default.
    const name = jobName ?? basename(file).replace(/\.(ya?ml|json)$/, '')
    return [{ job: toJob(file, name, value, contents, document) }]
  }
  const { jobs } = value
  const items: Found[] = isMap(pair.value)
    ? pair.value.items.map((item) => ({ name: keyText(item) ?? '', node: item.value }))
    : isSeq(pair.value)
      ? pair.value.items.map((node, index) => ({ name: nameOf((jobs as Fields[])[index]), node }))
      : []
  const contentOf = (name: string, index: number): Fields => {
    const { jobName: _, ...content } = (Array.isArray(jobs) ? jobs[index] : (jobs as Fields)[name]) as Fields
    return content
  }
  return items.map(({ name, node }, index) => {
    if (!isMap(node)) throw new UsageError(`${file}: job ${name} must be a map of fields to be signed`)
    return { job: toJob(file, name, contentOf(name, index), node, document) }
  })
}

const nameOf = (item: Fields | undefined) => String(item?.jobName ?? '')
const check = buildCheck(JobContent)

function toJob(file: string, jobName: string, content: Fields, node: YAMLMap, document: Document): FileJob {
  const [problem] = check(content)
  if (problem) {
    const at = problem.path.length > 0 ? `, ${problem.path.join('.')}` : ''
    throw new UsageError(`${file}: job ${jobName}${at}: ${problem.message}`)
  }
  return {
    jobName,
    content,
    setSignatures: (signatures) => node.set('signatures', document.createNode(signatures)),
  }
}

function pairAt(map: YAMLMap, key: string): Pair | undefined {
  return (map.items as Pair[]).find((pair) => keyText(pair) === key)
}

function textOf(documents: Document[], file: string): string {
  const [first] = documents
  if (file.endsWith('.json') && first) return `${JSON.stringify(first.toJS(), null, 2)}\n`
  return documents.map((document) => document.toString({ lineWidth: 0 })).join('---\n')
}

/** Writes atomically and keeps the file's mode. */
function writeText(to: string, text: string): void {
  const mode = statSync(to, { throwIfNoEntry: false })?.mode
  const draft = `${to}.${process.pid}.part`
  writeFileSync(draft, text, mode === undefined ? {} : { mode })
  renameSync(draft, to)
}
