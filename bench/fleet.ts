// The data of every contender: one job and 10,000 devices.

export const jobName = 'restart-service'

export const fleet = Array.from({ length: 10_000 }, (_, index) => {
  const number = String(index + 1).padStart(5, '0')
  return { deviceId: `device-${number}`, deviceName: `Device ${number}` }
})
