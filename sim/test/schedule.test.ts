import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Schedule } from '../src/schedule.ts'

test('acts in the order of time, whatever the order of the calls', async () => {
  const schedule = new Schedule()
  const acted: number[] = []
  const times = [40, 5, 90, 0, 60, 20, 75, 33, 12, 51]
  await new Promise<void>((resolve) => {
    for (const ms of times) {
      const appointment = schedule.after(ms, () => acted.push(appointment.at))
    }
    schedule.after(100, resolve)
  })
  assert.equal(acted.length, times.length)
  assert.deepEqual(
    acted,
    acted.toSorted((one, other) => one - other),
  )
})

test('what is canceled, and what is left when it stops, never happens', async () => {
  const schedule = new Schedule()
  const acted: string[] = []
  schedule.cancel(schedule.after(0, () => acted.push('canceled')))
  await new Promise<void>((resolve) => {
    schedule.after(10, resolve)
  })
  schedule.after(0, () => acted.push('left'))
  schedule.stop()
  schedule.after(0, () => acted.push('too late'))
  // Whatever was due comes before what another schedule has later.
  await new Promise<void>((resolve) => {
    new Schedule().after(30, resolve)
  })
  assert.deepEqual(acted, [])
})
