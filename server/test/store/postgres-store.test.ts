import { sharedPostgres } from '@jobcast/testkit/postgres-server'
import { exerciseStore } from './exercise-store.ts'
import { openPostgresUnderTest } from './postgres-under-test.ts'

const server = await sharedPostgres()

exerciseStore('PostgreSQL', (t) => openPostgresUnderTest(t, server))
