//! Writing signed JSON web tokens in their compact form (RFC 7515).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::error::Fault;

/// Signs `claims` under `header`, which must name the algorithm of `sign`.
pub(super) fn encode(
    header: &Value,
    claims: &Value,
    sign: impl FnOnce(&[u8]) -> Result<Vec<u8>, Fault>,
) -> Result<String, Fault> {
    let mut token = URL_SAFE_NO_PAD.encode(header.to_string());
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(claims.to_string(), &mut token);
    let signature = sign(token.as_bytes())?;
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    Ok(token)
}
