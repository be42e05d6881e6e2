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

test('canceled actions, and those left when it stops, never run', async () => {
  const schedule = new Schedule()
  const acted: string[] = []
  schedule.cancel(schedule.after(0, () => acted.push('canceled')))
  await new Promise<void>((resolve) => {
    schedule.after(10, resolve)
  })
  schedule.after(0, () => acted.push('left'))
  schedule.stop()
  schedule.after(0, () => acted.push('too late'))
  // Everything that was due comes before a later appointment of another schedule.
  await new Promise<void>((resolve) => {
    new Schedule().after(30, resolve)
  })
  assert.deepEqual(acted, [])
})
