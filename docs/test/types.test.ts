// Running a program says nothing about its types: Node drops them.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { examplesOf, pages, repository } from './pages.ts'

test('every example in TypeScript type-checks', { timeout: 600_000 }, async (t) => {
  const folder = temporaryFolder(t)
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const typeRoots = [join(repository, 'node_modules/@types')]
  const tsconfig = {
    extends: join(repository, 'tsconfig.json'),
    compilerOptions: { typeRoots },
    include: ['*.ts'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  for (const page of pages) {
    for (const { language, line, text } of examplesOf(page)) {
      const file = `${page.replaceAll('/', '-').replace('.md', '')}-line-${line}.ts`
      if (language === 'ts') writeFileSync(join(folder, file), text)
    }
  }
  const tsc = join(repository, 'node_modules/typescript/bin/tsc')
  await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch((error) => assert.fail(error.stdout))
})
