// aws-iot-device-sdk-v2 over MQTT 3.1.1, unmodified.

import { exerciseAwsSdkV2 } from './support/exercise-aws-sdk-v2.ts'

await exerciseAwsSdkV2(4)
