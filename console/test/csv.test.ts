import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Execution } from '@jobcast/client'
import { devicesOfCsv } from '../src/screens/devices/devices-of-csv.ts'
import { csvHead, csvLine } from '../src/screens/executions/csv.ts'

const cellOf = (deviceName: string) =>
  csvLine({ deviceName } as unknown as Execution).replace(/^,{4}|,{7}\r\n$/g, '')

const cells: [string, string][] = [
  ['kiosk-1', 'kiosk-1'],
  ['a=b', 'a=b'],
  ['=1+1', `"'=1+1"`],
  ['+1', `"'+1"`],
  ['-1', `"'-1"`],
  ['@SUM(A1)', `"'@SUM(A1)"`],
  ['\t=1', `"'\t'=1"`],
  ['\r=1', `"'\r'=1"`],
  ['＝1', `"'＝1"`],
  ['  =1', `"  '=1"`],
  ['x;=1', `"x;'=1"`],
  ['x; =1', `"x; '=1"`],
  ['x;"=1', `"x;""'=1"`],
  ['x\t-1', `"x\t'-1"`],
  ['x\n@y', `"x\n'@y"`],
  ['x;y', '"x;y"'],
]
for (const [text, cell] of cells) {
  test(`the text ${JSON.stringify(text)} is no formula, whatever separator a spreadsheet expects`, () => {
    assert.equal(cellOf(text), cell)
    // Split as one that expects semicolons would, for whom a quote inside a cell is an ordinary character.
    for (const part of cellOf(text).split(/[;\r\n\t]/)) assert.doesNotMatch(part, /^[ "]*[=+\-@＝]/)
  })
}

test('cells are quoted if necessary, and text from devices never becomes a formula', () => {
  const execution = {
    jobExecutionId: 7,
    jobName: 'say "hi", twice',
    deviceId: 'a',
    statusDetails: { reason: 'disk\nfull' },
    deviceName: '=HYPERLINK("x")',
    result: null,
    attempt: 1,
  } as unknown as Execution
  assert.equal(
    csvLine(execution),
    '7,,"say ""hi"", twice",a,"\'=HYPERLINK(""x"")",,1,,,,"{""reason"":""disk\\nfull""}",\r\n',
  )
  assert.equal(csvHead.split(',').length, 12)
})

test('devices of a table: quotes, separators of any country, attributes by their columns', () => {
  const { devices, attributes, problem } = devicesOfCsv(
    '\ufeffdeviceId,tags,fw,site,floor\n"a ""1""","x, y",2.10,"two\nlines",3\n\nb,,007,,1.50\n',
  )
  assert.equal(problem, undefined)
  assert.deepEqual(attributes, ['fw', 'site', 'floor'])
  assert.deepEqual(devices, [
    {
      line: 2,
      device: {
        deviceId: 'a "1"',
        tags: ['x', 'y'],
        attributes: { fw: '2.10', site: 'two\nlines', floor: 3 },
      },
    },
    { line: 5, device: { deviceId: 'b', attributes: { fw: '007', floor: '1.50' } } },
  ])
  assert.match(devicesOfCsv('name\nx').problem ?? '', /deviceId/)
  assert.match(devicesOfCsv('deviceId;fw;fw\nx;1;2').problem ?? '', /The column fw occurs twice/)
  assert.match(devicesOfCsv('deviceId\n').problem ?? '', /no device/)
})
