// The bucket for files: what its settings mean, and what is said of wrong ones.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { loadConfig } from '../../src/config/config.ts'
import { ConfigError } from '../../src/config/config-error.ts'

const keys = { JOBCAST_FILES_S3_ACCESS_KEY_ID: 'id', JOBCAST_FILES_S3_SECRET_ACCESS_KEY: 'secret' }

function problemsOf(flags: Record<string, string>, env: Record<string, string> = {}): readonly string[] {
  try {
    loadConfig(flags, env)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.problems
  }
}

test('without files-s3 content is in the data folder; with it there is no folder', (t) => {
  assert.equal(loadConfig({}, {}).filesBucket, undefined)
  const file = join(temporaryFolder(t), 'secret')
  writeFileSync(file, 'secret\n')
  const env = { JOBCAST_FILES_S3_ACCESS_KEY_ID: 'id', JOBCAST_FILES_S3_SECRET_ACCESS_KEY_FILE: file }
  const { filesBucket, filesFolder } = loadConfig(
    { 'files-s3': 'https://s3.example.com:9000/my-bucket/a/b/' },
    env,
  )
  assert.equal(filesFolder, undefined)
  assert.deepEqual(filesBucket, {
    ...{ endpoint: 'https://s3.example.com:9000', bucket: 'my-bucket', prefix: 'a/b/', region: 'us-east-1' },
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  })
})

test('the region is that in an address of AWS, unless another is set; without keys there are none', () => {
  const of = (address: string, region?: string) =>
    loadConfig({ 'files-s3': address, ...(region && { 'files-s3-region': region }) }, {}).filesBucket
  assert.equal(of('https://s3.eu-central-1.amazonaws.com/files')?.region, 'eu-central-1')
  assert.equal(of('https://s3.dualstack.us-gov-west-1.amazonaws.com/files')?.region, 'us-gov-west-1')
  assert.equal(of('https://s3.eu-central-1.amazonaws.com/files', 'other')?.region, 'other')
  assert.deepEqual(
    [of('http://minio:9000/files')?.prefix, of('http://minio:9000/files')?.credentials],
    ['', undefined],
  )
})

test('devices fetch from the bucket only if there is an address for them', () => {
  const direct = (text: string) => ({ 'files-s3': 'https://minio:9000/files/a', 'files-s3-direct': text })
  const address = 'https://minio.example.com'
  assert.equal(loadConfig(direct(address), {}).filesBucket?.direct, address)
  assert.equal(loadConfig(direct(`${address}/`), {}).filesBucket?.direct, address)
  assert.equal(loadConfig({ 'files-s3': 'https://minio:9000/files/a' }, {}).filesBucket?.direct, undefined)
  for (const wrong of [
    'true',
    `${address}/files`,
    'ftp://minio',
    'https://id:secret@minio',
    `${address}?a=1`,
  ]) {
    assert.deepEqual(problemsOf(direct(wrong)), [
      'files-s3-direct must have the form https://s3.example.com, without the bucket',
    ])
  }
  assert.deepEqual(problemsOf({ 'files-s3-direct': address }), [
    'files-s3-direct is set, but files-s3 is not',
  ])
})

test('files-s3-placeholders names objects and folders of the bucket', () => {
  const direct = { 'files-s3': 'https://minio:9000/files/a', 'files-s3-direct': 'https://minio.example.com' }
  const of = (text: string) => ({ ...direct, 'files-s3-placeholders': text })
  assert.equal(loadConfig(direct, {}).filesBucket?.placeholders, undefined)
  assert.deepEqual(loadConfig(of('files/images/, files/boot/app.bin,files'), {}).filesBucket?.placeholders, [
    'images',
    'boot/app.bin',
    '',
  ])
  const form = ['files-s3-placeholders must have the form files/folder,files/folder/object']
  for (const wrong of ['true', 'other/images', 'images', 'files/../other', 'files//a', 'files/a,'])
    assert.deepEqual(problemsOf(of(wrong)), form, wrong)
  const { 'files-s3': address } = direct
  assert.deepEqual(problemsOf({ 'files-s3': address, 'files-s3-placeholders': 'files/images' }), [
    'files-s3-placeholders is set, but files-s3-direct is not',
  ])
  assert.deepEqual(problemsOf({ 'files-s3-placeholders': 'files/images' }), [
    'files-s3-placeholders is set, but files-s3 is not',
  ])
})

test('wrong settings are named, without the secret', () => {
  const form = /^files-s3 must have the form https:/
  for (const address of [
    ...[
      'my-bucket',
      's3://my-bucket',
      'https://s3.example.com',
      'https://s3.example.com/A',
      'ftp://s3.example.com/files',
    ],
    ...[
      'https://id:secret@s3.example.com/files',
      'https://s3.example.com/files?x=1',
      'https://s3.example.com/files//a',
    ],
    `https://s3.example.com/files${'/a'.repeat(9)}`,
  ]) {
    const problems = problemsOf({ 'files-s3': address })
    assert.equal(problems.length, 1, address)
    assert.match(problems[0] ?? '', form)
    assert.doesNotMatch(problems[0] ?? '', /secret/)
  }
  const address = { 'files-s3': 'https://s3.example.com/files' }
  assert.deepEqual(problemsOf(address, keys), [])
  assert.deepEqual(problemsOf({ ...address, 'files-folder': '/files' }), [
    'files-s3 and files-folder are both set; set one of them',
  ])
  assert.deepEqual(problemsOf(address, { JOBCAST_FILES_S3_ACCESS_KEY_ID: 'id' }), [
    'JOBCAST_FILES_S3_ACCESS_KEY_ID and JOBCAST_FILES_S3_SECRET_ACCESS_KEY must be set together',
  ])
  assert.deepEqual(problemsOf({ 'files-s3-region': 'x' }, keys), [
    'files-s3-region is set, but files-s3 is not',
    'JOBCAST_FILES_S3_ACCESS_KEY_ID is set, but files-s3 is not',
    'JOBCAST_FILES_S3_SECRET_ACCESS_KEY is set, but files-s3 is not',
  ])
  assert.match(
    problemsOf({}, { JOBCAST_FILES_S3_ACCES_KEY_ID: 'x' })[0] ?? '',
    /did you mean JOBCAST_FILES_S3_ACCESS_KEY_ID/,
  )
})
