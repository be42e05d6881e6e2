// aws-iot-device-sdk-v2 over MQTT 5, unmodified.

import { exerciseAwsSdkV2 } from './support/exercise-aws-sdk-v2.ts'

await exerciseAwsSdkV2(5)
