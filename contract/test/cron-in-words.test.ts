import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronInWords, parseCron } from '@jobcast/contract/cron'

const words: [string, string][] = [
  ['0 3 * * 1-5', 'every weekday at 03:00'],
  ['0 3 * * mon-fri', 'every weekday at 03:00'],
  ['0 3 * * *', 'every day at 03:00'],
  ['0 3,15 * * *', 'every day at 03:00 and 15:00'],
  ['15,45 6 * * 0', 'every Sunday at 06:15 and 06:45'],
  ['0 3 * * 7', 'every Sunday at 03:00'],
  ['0 3 * * 0,6', 'every Saturday and Sunday at 03:00'],
  ['0 3 * * 1-4', 'every Monday to Thursday at 03:00'],
  ['30 22 * * 1,3,5', 'every Monday, Wednesday and Friday at 22:30'],
  ['0 4 1 * *', 'on the 1st of every month at 04:00'],
  ['0 4 1,15,22 * *', 'on the 1st, 15th and 22nd of every month at 04:00'],
  ['0 4 11 jan,jul *', 'on the 11th of January and July at 04:00'],
  ['0 4 * 12 *', 'every day in December at 04:00'],
  ['0 4 * 12 1', 'every Monday in December at 04:00'],
  ['0 4 1 * 1', 'on the 1st of every month and every Monday at 04:00'],
  ['* * * * *', 'every minute'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['*/15 * * * 1-5', 'every 15 minutes, every weekday'],
  ['*/15 8-17 * * 1-5', 'every 15 minutes from 08:00 to 17:45, every weekday'],
  ['0 * * * *', 'every hour'],
  ['20 * * * *', 'every hour at 20 past'],
  ['0,30 * * * *', 'every 30 minutes'],
  ['5,35 * * * *', 'every hour at 5 and 35 past'],
  ['0 8-17 * * *', 'every hour from 08:00 to 17:00'],
  ['10 */2 * * *', 'every 2 hours, 10 minutes past the hour'],
  ['0 */6 1 * *', 'on the 1st of every month at 00:00, 06:00, 12:00 and 18:00'],
  ['@hourly', 'every hour'],
  ['@daily', 'every day at 00:00'],
  ['@weekly', 'every Sunday at 00:00'],
  ['@monthly', 'on the 1st of every month at 00:00'],
]
for (const [pattern, expected] of words) {
  test(`${pattern} is ${expected}`, () => {
    assert.equal(cronInWords(pattern), expected)
    assert.ok(parseCron(pattern, 'UTC').next(0) !== undefined)
  })
}

const without = [
  '0 3 L * *',
  '0 3 * * 1#2',
  '*/7 1,5,9 * * *',
  '0 25 * * *',
  '0 3 * *',
  '0 3 * * 1-8',
  '',
  '0 3 */1 * 1',
]
for (const pattern of without) {
  test(`there are no words for "${pattern}"`, () => assert.equal(cronInWords(pattern), undefined))
}
