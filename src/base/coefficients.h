/* coefficients.h - polynomials and tables of functions.
 * Made by tools/coefficients.py: do not edit.  Lowest power first; the error
 * is relative to the function that the polynomial is part of.
 */
#ifndef TK_BASE_COEFFICIENTS_H
#define TK_BASE_COEFFICIENTS_H

/* e^r; error 2^-51.4 */
static const double TKM_EXP[11] = {
    0x1.0000000000000p+0,  0x1.000000000001ep+0,  0x1.0000000000005p-1,
    0x1.555555554b736p-3,  0x1.55555555520a4p-5,  0x1.1111112ddae8bp-7,
    0x1.6c16c17f46982p-10, 0x1.a01978b8b3d18p-13, 0x1.a019a6611cad5p-16,
    0x1.72fafebdaf273p-19, 0x1.28a2ca617b969p-22,
};

/* 2^r; error 2^-51.5 */
static const double TKM_EXP2[11] = {
    0x1.0000000000000p+0,  0x1.62e42fefa3a19p-1,  0x1.ebfbdff82c598p-3,
    0x1.c6b08d703cdf2p-5,  0x1.3b2ab6fba1dc6p-7,  0x1.5d87fe9d85abep-10,
    0x1.4309130975155p-13, 0x1.ffcb53e3aafe9p-17, 0x1.62bfd46781ef6p-20,
    0x1.b675df26cbf5ep-24, 0x1.e6065f532c950p-28,
};

/* (2 atanh(s) - 2 s) / s^3, s^2; error 2^-57.6 */
static const double TKM_LOG[7] = {
    0x1.5555555555558p-1, 0x1.9999999995273p-2, 0x1.2492492dfd86cp-2,
    0x1.c71c62d5e53e0p-3, 0x1.7462b91b8df65p-3, 0x1.39fdcceb4bb45p-3,
    0x1.2b5f68a50d903p-3,
};

/* (sin r - r) / r^3, r^2; error 2^-45.7 */
static const double TKM_SIN[5] = {
    -0x1.5555555555166p-3, 0x1.1111110fd28f7p-7,   -0x1.a019fd9820cb8p-13,
    0x1.71d9a79f7c8bfp-19, -0x1.aa27435ae36f6p-26,
};

/* (cos r - 1 + r^2 / 2) / r^4, r^2; error 2^-50.2 */
static const double TKM_COS[5] = {
    0x1.5555555555435p-5,   -0x1.6c16c16b60960p-10, 0x1.a019ff51e32bfp-16,
    -0x1.27e25df660197p-22, 0x1.1c812551ce4e2p-29,
};

/* erf(x) / x, x^2; error 2^-45.6 */
static const double TKM_ERF[10] = {
    0x1.20dd750429b19p+0,   -0x1.812746b0271ecp-2,  0x1.ce2f2197bc2efp-4,
    -0x1.b82ce15c3b7f8p-6,  0x1.565ba0406c001p-8,   -0x1.c0286cad68e02p-11,
    0x1.f941bed7e7847p-14,  -0x1.f0705a1dde9aap-17, 0x1.9ae0986f9de4fp-20,
    -0x1.c1a515de8637ap-24,
};

/* erf(t + 2.5); error 2^-41.7 */
static const double TKM_ERF_TAIL[22] = {
    0x1.ffcaa8f4c9768p-1,   0x1.1d83170ff87e2p-9,  -0x1.64e3dcc48b57ap-8,
    0x1.119da0be6de21p-7,   -0x1.1a89ba02de308p-7, 0x1.90e81359acdfap-8,
    -0x1.6ecdb106112a2p-9,  0x1.1c60dd4933e55p-11, 0x1.11538ac0700a5p-12,
    -0x1.06702bbd717eep-12, 0x1.4a910f318806cp-14, 0x1.580ea0ab1be79p-18,
    -0x1.d8f1f9153c86bp-17, 0x1.3bb28e629c0c3p-18, 0x1.9e753c932d4fep-23,
    -0x1.5e53121f1dedcp-21, 0x1.74f354354ae55p-23, 0x1.a0282aaab7cd1p-26,
    -0x1.7f71719ab3f22p-26, 0x1.3b7c95e36b479p-29, 0x1.22bdc933319ecp-30,
    -0x1.fb43202066e68p-33,
};

/* (tanh x - x) / x^3, x^2; error 2^-51.1 */
static const double TKM_TANH[10] = {
    -0x1.555555555553dp-2,  0x1.111111110a5d8p-3,  -0x1.ba1ba1b0795a9p-5,
    0x1.664f45d0e2c01p-6,   -0x1.226dd2f94fb27p-7, 0x1.d6c39a6885f22p-9,
    -0x1.7cd1692ae931dp-10, 0x1.2eabc1184b6d0p-11, -0x1.b1eca31218d07p-13,
    0x1.96bbec8b846acp-15,
};

/* erf(k / 16) as the sum of two doubles, and its slope there */
static const double TKM_ERF_AT[97][3] = {
    {0x0.0p+0, 0x0.0p+0, 0x1.20dd750429b6dp+0},
    {0x1.207d480e90658p-4, 0x1.4c35c43362a08p-58, 0x1.1fbd27cdc72d3p+0},
    {0x1.1f5e1a35c3b89p-3, 0x1.d0b6d6493e0f4p-57, 0x1.1c62fa1e869b6p+0},
    {0x1.ac45e37fe2526p-3, 0x1.48d48536c61e3p-57, 0x1.16e2d7093cd8cp+0},
    {0x1.1af54e232d609p-2, -0x1.bee921fa4172bp-56, 0x1.0f5d1602f7e41p+0},
    {0x1.5da9f415ff23fp-2, -0x1.a72e51e19194bp-59, 0x1.05fd3ecbec298p+0},
    {0x1.9dd0d2b721f39p-2, -0x1.1671c021d14c4p-56, 0x1.f5f0cdaf15313p-1},
    {0x1.db081ce6e2a48p-2, -0x1.7ff0a3296d9ccp-56, 0x1.dd167c4cf9d2ap-1},
    {0x1.0a7ef5c18edd2p-1, 0x1.5e809f1a31a28p-56, 0x1.c1efca49a5011p-1},
    {0x1.25b8a88b6dd7fp-1, 0x1.9534a3b5bd215p-55, 0x1.a5074e2157620p-1},
    {0x1.3f196dcd0f135p-1, -0x1.f25f4f6fdf70bp-56, 0x1.86e9694134b9ep-1},
    {0x1.569243d2b3a9bp-1, 0x1.8eef7012e8df5p-56, 0x1.681ff24b4ab04p-1},
    {0x1.6c1c9759d0e5fp-1, 0x1.b1432f2cbc455p-55, 0x1.492e42d78d2c5p-1},
    {0x1.7fb9bfaed8078p-1, 0x1.66cf14bcad032p-56, 0x1.2a8dcede3673bp-1},
    {0x1.91724951b8fc6p-1, -0x1.27912dd352f8bp-55, 0x1.0cab61f084b93p-1},
    {0x1.a1551a16aaeafp-1, 0x1.a558a46df5f67p-57, 0x1.dfca26f5bbf88p-2},
    {0x1.af767a741088bp-1, -0x1.c97f778122797p-56, 0x1.a911f096fbc26p-2},
    {0x1.bbef0fbde6221p-1, -0x1.322c1148e0d48p-55, 0x1.75a91a7f4d2edp-2},
    {0x1.c6dad2829ec62p-1, -0x1.ab76d4cba3d05p-57, 0x1.45e99bcbb7915p-2},
    {0x1.d0580b2cfd249p-1, 0x1.4fca6318dfee9p-55, 0x1.1a0dc51a9934dp-2},
    {0x1.d8865d98abe01p-1, -0x1.fcec4afb974d9p-55, 0x1.e4652fadcb6b2p-3},
    {0x1.df85ea8db188ep-1, -0x1.f71e8254d11a9p-55, 0x1.9cb5bd549b111p-3},
    {0x1.e5768c3b4a3fcp-1, 0x1.8b62674f89890p-57, 0x1.5ce595c455b0ap-3},
    {0x1.ea7730ed0bbb9p-1, 0x1.2c5bd7ce1388bp-55, 0x1.24a7b84d38971p-3},
    {0x1.eea5557137ae0p-1, -0x1.385e445f2c96dp-55, 0x1.e723726b824a9p-4},
    {0x1.f21c9f12f0677p-1, -0x1.7efe429672266p-58, 0x1.92470a61b6965p-4},
    {0x1.f4f693b67bd77p-1, -0x1.3a1ee1406c356p-56, 0x1.499d478bca735p-4},
    {0x1.f74a6d9a38383p-1, 0x1.c33a329423946p-55, 0x1.0bf97e95f2a64p-4},
    {0x1.f92d077f8d56dp-1, 0x1.8b55ef493fce7p-56, 0x1.b055303221015p-5},
    {0x1.fab0dd89d1309p-1, -0x1.ae61bd9db1babp-55, 0x1.5a08e85af27e0p-5},
    {0x1.fbe61eef4cf6ap-1, 0x1.15ded88667618p-55, 0x1.12ceb37ff9bc3p-5},
    {0x1.fcdacca0bfb73p-1, -0x1.2c33d88729e43p-55, 0x1.b1160991ff737p-6},
    {0x1.fd9ae142795e3p-1, 0x1.972801904b9a3p-56, 0x1.529b9e8cf9a1ep-6},
    {0x1.fe307f2b503d0p-1, -0x1.8a555000387f8p-57, 0x1.06ae13b0d3255p-6},
    {0x1.fea4218d6594ap-1, -0x1.e3333d8f7d98cp-58, 0x1.94624e78e0fafp-7},
    {0x1.fefcce6813974p-1, -0x1.b27cf5025d1c8p-58, 0x1.34d7dbc76d7e5p-7},
    {0x1.ff404760319b4p-1, 0x1.f142071432025p-56, 0x1.d4143a9dfe965p-8},
    {0x1.ff733814af88cp-1, 0x1.0a87238cea4f9p-56, 0x1.5ff2750fe7820p-8},
    {0x1.ff9960f3eb327p-1, -0x1.08b1ca6e97f80p-56, 0x1.06918b6355624p-8},
    {0x1.ffb5bdf67fe6fp-1, 0x1.4e830346f6e7fp-62, 0x1.84ba3004a50d0p-9},
    {0x1.ffcaa8f4c9beap-1, 0x1.b0cee160116f9p-55, 0x1.1d83170fbf6fbp-9},
    {0x1.ffd9f78c7524ap-1, 0x1.04ed6ff98e45dp-55, 0x1.a024365f771bdp-10},
    {0x1.ffe514bbdc197p-1, -0x1.cd963345b5c6dp-58, 0x1.2ce898809244ep-10},
    {0x1.ffed167b12ac2p-1, -0x1.ddc0ce3ed8fcbp-55, 0x1.afc85e0f82e12p-11},
    {0x1.fff2cfb0453d9p-1, 0x1.9a913686042a3p-55, 0x1.3360ccd23db3ap-11},
    {0x1.fff6dee89352ep-1, 0x1.b96c0ba13851dp-55, 0x1.b23a5a23e4210p-12},
    {0x1.fff9ba420e834p-1, 0x1.1379ec5aa630ep-56, 0x1.30538fbb77ecdp-12},
    {0x1.fffbb8f1049c6p-1, 0x1.d2c6266b51f27p-56, 0x1.a740684026555p-13},
    {0x1.fffd1ac4135f9p-1, 0x1.eeafa1ecd6cefp-55, 0x1.2408e9ba3327fp-13},
    {0x1.fffe0e0140857p-1, -0x1.6aa36f86c14ddp-57, 0x1.8fdc1b2dcf7b9p-14},
    {0x1.fffeb3ebb267bp-1, 0x1.e47f697047cbap-57, 0x1.0f9e1b4dd36dfp-14},
    {0x1.ffff2436a21dcp-1, -0x1.3607959a29d36p-55, 0x1.6e2367dc27f95p-15},
    {0x1.ffff6f9f67e55p-1, 0x1.e1e4483ba034bp-55, 0x1.e9b5e8d00ce77p-16},
    {0x1.ffffa1de8c582p-1, 0x1.832540129302ap-55, 0x1.44f21e49054f2p-16},
    {0x1.ffffc316d9ed0p-1, -0x1.8b32f44f46b3bp-55, 0x1.abe09e9144b5ep-17},
    {0x1.ffffd8e1a2f22p-1, -0x1.c10adf6b19989p-55, 0x1.1783ceac28910p-17},
    {0x1.ffffe710d565ep-1, 0x1.c9ea52d76dc04p-55, 0x1.6a597219a93dap-18},
    {0x1.fffff039f9e8fp-1, -0x1.9d1bcd6174e99p-55, 0x1.d21397ead99cbp-19},
    {0x1.fffff618c3da6p-1, -0x1.19309ce23aa3ep-58, 0x1.296a70f414053p-19},
    {0x1.fffff9d446cccp-1, -0x1.bb06bab98bc7ep-57, 0x1.789fb715aae95p-20},
    {0x1.fffffc2f171e3p-1, 0x1.85edd0395f475p-55, 0x1.d9371e2ff7c35p-21},
    {0x1.fffffda86faa9p-1, -0x1.d230252d68f25p-56, 0x1.26f9df8519bd7p-21},
    {0x1.fffffe92ced93p-1, -0x1.d2db2ecfe14aep-55, 0x1.6ce1aa3fd7bddp-22},
    {0x1.ffffff233ee1dp-1, 0x1.db123ed17221dp-55, 0x1.bfd7555a3bd68p-23},
    {0x1.ffffff7b91176p-1, 0x1.0b2865615db40p-56, 0x1.10b1488aeb235p-23},
    {0x1.ffffffb127525p-1, 0x1.504f382db4102p-55, 0x1.4980cb3c80949p-24},
    {0x1.ffffffd169d0cp-1, 0x1.70a2bfb068e6fp-55, 0x1.8b0cfce0579e0p-25},
    {0x1.ffffffe4aed5ep-1, 0x1.389c0f32ad0f4p-59, 0x1.d5f3a8dea7357p-26},
    {0x1.fffffff01a8b6p-1, 0x1.23370eca5ca6ap-60, 0x1.155a09065d4f7p-26},
    {0x1.fffffff6d1e56p-1, -0x1.64d969b4be4c4p-55, 0x1.44d26de513197p-27},
    {0x1.fffffffabd229p-1, -0x1.4dbe49bec3ef2p-57, 0x1.7974e743dea3dp-28},
    {0x1.fffffffd01f89p-1, -0x1.35e8e39884f62p-56, 0x1.b334fac4b9f99p-29},
    {0x1.fffffffe4fa30p-1, 0x1.d166bcb681c7bp-57, 0x1.f1e3523b41d7dp-30},
    {0x1.ffffffff0dd2bp-1, 0x1.0df73e7d2fc98p-55, 0x1.1a94ff571654fp-30},
    {0x1.ffffffff79626p-1, 0x1.5fbc52d650a89p-55, 0x1.3e44e45301b92p-31},
    {0x1.ffffffffb5be5p-1, -0x1.729d6819c7f34p-56, 0x1.63ac6b4edc88ep-32},
    {0x1.ffffffffd759dp-1, 0x1.f7bee7eb23420p-55, 0x1.8a61745ec7d1dp-33},
    {0x1.ffffffffe9eb0p-1, -0x1.ea527e0bef1ecp-58, 0x1.b1e5acf351d87p-34},
    {0x1.fffffffff4188p-1, 0x1.7a2cb3d056eacp-55, 0x1.d9a880f306bd8p-35},
    {0x1.fffffffff9a1bp-1, -0x1.6a87270d2450ep-57, 0x1.0084ff125639dp-35},
    {0x1.fffffffffc9e8p-1, -0x1.a759f7738935fp-56, 0x1.13af4f04f9998p-36},
    {0x1.fffffffffe380p-1, 0x1.7ce07114e4fe0p-55, 0x1.25f9ee0b923dcp-37},
    {0x1.ffffffffff11ap-1, -0x1.3eafccbc6e8b7p-56, 0x1.370ab8327af5ep-38},
    {0x1.ffffffffff845p-1, 0x1.b0edc5a89ab8fp-56, 0x1.46897d4b69fc6p-39},
    {0x1.ffffffffffc05p-1, 0x1.07ba96a6b2e1ap-55, 0x1.5422ef5d8949dp-40},
    {0x1.ffffffffffdf8p-1, -0x1.dcf8b10ff973bp-55, 0x1.5f8b87a31bd85p-41},
    {0x1.ffffffffffef8p-1, 0x1.14be6226402c7p-56, 0x1.68823e52970bep-42},
    {0x1.fffffffffff7bp-1, 0x1.00fa07f7fb612p-55, 0x1.6ed2f2515e933p-43},
    {0x1.fffffffffffbep-1, -0x1.182b326b228dcp-55, 0x1.7258610b3b233p-44},
    {0x1.fffffffffffdfp-1, 0x1.5669e670f914bp-56, 0x1.72fd93e036cdcp-45},
    {0x1.ffffffffffff0p-1, -0x1.20ef3618f2d54p-56, 0x1.70beaf9c7ffb6p-46},
    {0x1.ffffffffffff8p-1, 0x1.0160ef15c497dp-56, 0x1.6ba91ac734786p-47},
    {0x1.ffffffffffffcp-1, 0x1.8115fd1b12786p-56, 0x1.63daf8b4b1e0cp-48},
    {0x1.ffffffffffffep-1, 0x1.59ab24e589a30p-56, 0x1.5982008db1304p-49},
    {0x1.fffffffffffffp-1, 0x1.0439397b5f70ap-56, 0x1.4cd9c04158cd7p-50},
    {0x1.0000000000000p+0, -0x1.a6d7d18831888p-55, 0x1.3e296303b2297p-51},
    {0x1.0000000000000p+0, -0x1.8cf81557d20b6p-56, 0x1.2dc119095729fp-52},
};

#endif
