/**
 * The same random cases in every ordinary run, so that a change is judged by what it changed.
 * `FC_SEED=$RANDOM npm test` looks for new ones.
 */
import fc from 'fast-check'

fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20261130) })
