/** A loader hook: the engine loop gets `watched-step.js` where it asks for the engine's own step. */
import type { ResolveHook } from 'node:module'

export const resolve: ResolveHook = async (specifier, context, next) => {
  const resolved = await next(specifier, context)
  const isEngineLoop = context.parentURL?.endsWith('/runtime/engine-loop.js') === true
  if (!isEngineLoop || !specifier.endsWith('/engine/step.js')) return resolved
  const watched = new URL('./watched-step.js', import.meta.url)
  watched.searchParams.set('own', resolved.url)
  return { ...resolved, url: watched.href }
}
