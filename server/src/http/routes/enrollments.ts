// Enrollments, with which devices fetch their first credential.

import {
  CreatedEnrollment,
  EnrollmentPage,
  EnrollmentParams,
  NewEnrollment,
  PageQuery,
} from '@jobcast/contract'
import { readKeyNames } from '../../domain/access/key-names.ts'
import {
  createEnrollment,
  type EnrollmentDeps,
  listEnrollments,
  revokeEnrollment,
} from '../../domain/device/enrollment.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { noContent } from '../openapi/openapi.ts'
import { textSlice, toPage } from '../wire/cursor.ts'
import { emptyBodyAsObject } from '../wire/empty-body.ts'
import { toEnrollment } from '../wire/to-wire.ts'

const url = '/job/api/enrollments'

export function addEnrollments(app: App, deps: EnrollmentDeps): void {
  app.route({
    method: 'POST',
    url,
    config: { scopes: ['MANAGE'], refusals: ['J-912'] },
    preValidation: emptyBodyAsObject,
    schema: {
      operationId: 'createEnrollment',
      tags: ['devices'],
      summary: 'Create a token with which devices enroll themselves',
      description: 'A device sends it once, to POST /things/{thing}/enroll, and receives its own token.',
      body: NewEnrollment,
      response: {
        201: CreatedEnrollment,
      },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const { enrollment, enrollmentToken } = await createEnrollment(deps, caller, request.body)
      const keyNames = await readKeyNames(deps.store, caller.ownerNo, deps.now(), [enrollment.createdBy])
      return reply.code(201).send({ ...toEnrollment(enrollment, keyNames), enrollmentToken })
    },
  })

  app.route({
    method: 'GET',
    url,
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'listEnrollments',
      tags: ['devices'],
      summary: 'List enrollments, including expired and revoked ones',
      querystring: PageQuery,
      response: { 200: EnrollmentPage },
    },
    handler: async (request) => {
      const caller = callerOf(request)
      const page = await listEnrollments(deps, caller, textSlice(request.query))
      const makers = page.items.map(({ createdBy }) => createdBy)
      const keyNames = await readKeyNames(deps.store, caller.ownerNo, deps.now(), makers)
      return toPage(page, (enrollment) => toEnrollment(enrollment, keyNames))
    },
  })

  app.route({
    method: 'DELETE',
    url: `${url}/:enrollmentId`,
    config: { scopes: ['MANAGE'], refusals: ['J-002'] },
    schema: {
      operationId: 'revokeEnrollment',
      tags: ['devices'],
      summary: 'Revoke an enrollment',
      description: 'No more devices can enroll with it. Devices that have enrolled keep their tokens.',
      params: EnrollmentParams,
      response: {
        204: noContent('Revoked'),
      },
    },
    handler: async (request, reply) => {
      await revokeEnrollment(deps, callerOf(request), request.params.enrollmentId)
      return reply.code(204).send(undefined)
    },
  })
}
