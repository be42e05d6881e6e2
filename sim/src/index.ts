export { startDdiFleet } from './ddi-fleet.ts'
export { type Fleet, type FleetCounts, type FleetOptions, type SimulatedDevice, startFleet } from './fleet.ts'
export type { EndStatus, FleetEvent, TellFleet } from './fleet-event.ts'
export { mqttAddress, mqttAddressBeside } from './mqtt-address.ts'
export { calmPattern, type Pattern, type Range } from './pattern.ts'
export {
  type CallApi,
  createDevices,
  RegisterRefused,
  registerDevices,
  simulatedTag,
} from './register-devices.ts'
